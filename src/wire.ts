// The composition root: what the commands are given. With wire-session.ts and wire-daemon.ts the only place that knows
// every room. Heavy rooms are imported only when a command needs them.
import type { Environment } from './cli/environment.ts';

export function createEnvironment(version: string): Environment {
  const environment: Environment = {
    version,
    async loadConfiguration(file) {
      const { loadConfiguration } = await import('./config/load-configuration.ts');
      const loaded = await loadConfiguration(file);
      const git = loaded.service?.source?.git;
      if (loaded.service === undefined || git === undefined) return loaded;
      // The accounts stand in the checkout that the daemon of this store keeps.
      const { checkoutRoot, placeOfCheckout } = await import('./config/checkout-folder.ts');
      const checkout = await placeOfCheckout(checkoutRoot(loaded.service), git.path);
      return checkout === undefined ? loaded : await loadConfiguration(file, { checkout });
    },
    collectConfiguration: async (file) =>
      (await import('./config/collect-configuration.ts')).collectConfiguration(file),
    postJson: async (url, token, body, timeoutMs) =>
      (await import('./wire-remote.ts')).postJson(url, token, body, timeoutMs),
    commitOf: async (configuration, service) =>
      (await import('./wire-session.ts')).commitOf(configuration, service),
    async httpToken(service, variable) {
      const { resolveSecret } = await import('./config/secrets.ts');
      if (process.env[variable] !== undefined)
        return await resolveSecret({ env: variable }, 'the daemon’s token');
      const { token } = service.http;
      return token === undefined ? null : await resolveSecret(token, 'http.token');
    },
    checkSecrets: async (configuration) => {
      const { checkSecrets } = await import('./config/secrets.ts');
      return await checkSecrets(configuration, process.env);
    },
    openSession: async (configuration, service, options) =>
      (await import('./wire-session.ts')).openSession(version, configuration, service, options),
    async openJournal(service, { mayBeNew } = { mayBeNew: false }) {
      const { openStore } = await import('./store/store.ts');
      const store = openStore(service.store, { readOnly: !mayBeNew });
      return { reader: store.reader, desk: store.desk, close: () => store.close() };
    },
    backupStore: async (service, file) =>
      (await import('./store/backup.ts')).backupStore(service.store, file),
    openReadable: async (service, options) =>
      (await import('./wire-readable.ts')).openReadable(version, service, options),
    accountFileText: async (input) => (await import('./config/account-file-text.ts')).accountFileText(input),
    nextTimes: async (schedule, timezone, count) =>
      (await import('./daemon/cron.ts')).nextTimes(schedule, timezone, count, Date.now()),
    async startSandbox({ dataFile, seedFile, faultsFile, port, accounts }) {
      const { startSandbox } = await import('./sandbox/sandbox.ts');
      return await startSandbox({
        port,
        accounts,
        ...(dataFile === undefined ? {} : { dataFile }),
        ...(seedFile === undefined ? {} : { seedFile }),
        ...(faultsFile === undefined ? {} : { faultsFile }),
      });
    },
    serve: async (configFile, options) =>
      (await import('./wire-daemon.ts')).serve(version, configFile, options),
    demo: async () => (await import('./demo.ts')).playDemo(environment),
  };
  return environment;
}
