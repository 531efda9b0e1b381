// Joins the rooms for the commands. Only the files of wire/ import every room. Heavy rooms are imported only when a command
// needs them.
import { userInfo } from 'node:os';
import path from 'node:path';
import type { AccountJournal } from '../app/read-account.ts';
import type { DraftFiles, Environment } from '../cli/environment.ts';
import type { OpenLocation, ServiceSettings } from '../core/settings.ts';
import { checkoutOf } from '../git/checkout-place.ts';
import { sha256 } from '../platform/digest.ts';

/** A user id without an entry in the user database, as in many containers, has no name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}

async function locationOf(service: ServiceSettings): Promise<OpenLocation> {
  return await (await import('../config/store-location.ts')).openLocation(service);
}

async function draftFiles({ configFile, texts }: DraftFiles) {
  const { filesFromMemory } = await import('../config/configuration-files.ts');
  return filesFromMemory(path.dirname(configFile), texts);
}

export function createEnvironment(version: string): Environment {
  const environment: Environment = {
    version,
    sha256,
    user: () => ({ name: userName(), via: 'cli' }),
    async loadConfiguration(file) {
      const { loadConfiguration } = await import('../config/load-configuration.ts');
      const loaded = await loadConfiguration(file);
      const checkout = await checkoutOf(loaded.service);
      return checkout === undefined ? loaded : await loadConfiguration(file, { checkout });
    },
    collectConfiguration: async (file) =>
      (await import('../config/load-configuration.ts')).collectConfiguration(file),
    async ownFiles(file) {
      const { configurationFiles } = await import('../config/load-configuration.ts');
      const { files, service } = await configurationFiles(file);
      const checkout = await checkoutOf(service);
      const fetched = checkout === undefined ? [] : (await configurationFiles(file, checkout)).files;
      const store = service !== undefined && 'file' in service.store ? service.store.file : null;
      const stored = store === null ? [] : [store, `${store}-wal`, `${store}-shm`];
      return [...files, ...fetched, ...stored];
    },
    postJson: async (url, token, body, timeoutMs) =>
      (await import('../platform/post-json.ts')).postJson(url, token, body, timeoutMs),
    checkPlans: async (value) => (await import('../report/schemas.ts')).checkPlans(value),
    commitOf: async (configuration, service) =>
      (await import('./session.ts')).commitOf(configuration, service),
    async httpToken(service, variable) {
      const { resolveSecret } = await import('../config/secrets.ts');
      if (process.env[variable] !== undefined)
        return await resolveSecret({ env: variable }, 'the daemon’s token');
      const { token } = service.http;
      return token === undefined ? null : await resolveSecret(token, 'http.token');
    },
    checkSecrets: async (configuration) => {
      const { checkSecrets } = await import('../config/secrets.ts');
      return await checkSecrets(configuration, process.env);
    },
    openSession: async (configuration, service, options) =>
      (await import('./session.ts')).openSession(version, configuration, service, options),
    async openJournal(service, { mayBeNew } = { mayBeNew: false }) {
      const { openStore } = await import('../store/open-store.ts');
      const store = await openStore(await locationOf(service), { mustExist: !mayBeNew });
      const memory: AccountJournal = {
        accountState: (account) => store.journal.accountState(account),
        lastGood: (...of) => store.journal.lastGood(...of),
        foreignOwner: (lists) => store.journal.foreignOwner(lists),
        claimant: (claim) => store.reader.claimant(claim),
      };
      return {
        reader: store.reader,
        operator: store.operator,
        memory,
        replicas: async () => (await store.turns?.replicas(null)) ?? [],
        turnStates: async (accounts) => (await store.turns?.states(accounts)) ?? new Map(),
        close: () => store.close(),
      };
    },
    backupStore: async (service, file, onProgress) =>
      (await import('../store/backup-store.ts')).backupStore(await locationOf(service), file, onProgress),
    storeName: async (service) => (await import('../config/store-location.ts')).storeName(service),
    copyStore: async (from, to, observers) =>
      (await import('./copy-store.ts')).copyStore(from, to, observers),
    openReadable: async (service, options) =>
      (await import('./session.ts')).openReadable(version, service, options),
    async dumpAccount(configFile, service, account, contents) {
      const { dumpAccount } = await import('../config/account-file-on-disk.ts');
      const checkout = await checkoutOf(service);
      return await dumpAccount({ configFile, account, checkout }, contents);
    },
    replaceAccountFile: async (file, before, text) =>
      (await import('../config/account-file-on-disk.ts')).replaceAccountFile(file, before, text),
    answerChecks: async () => (await import('../config/first-answers.ts')).FIRST_ANSWER_CHECKS,
    async loadDraft(draft) {
      const { loadConfiguration } = await import('../config/load-configuration.ts');
      return await loadConfiguration(draft.configFile, { files: await draftFiles(draft) });
    },
    async dumpDraft(draft, account, contents) {
      const { dumpAccount } = await import('../config/account-file-on-disk.ts');
      const files = await draftFiles(draft);
      return await dumpAccount({ configFile: draft.configFile, account, files }, contents);
    },
    nextTimes: async (schedule, timezone, count) =>
      (await import('../daemon/cron.ts')).nextTimes(schedule, timezone, count, Date.now()),
    nextRun: async (line, journal, nowMs) =>
      (await import('../daemon/next-run.ts')).nextRun(line, journal, nowMs),
    startSandbox: async (options) => (await import('../sandbox/sandbox.ts')).startSandbox(options),
    async startRehearsal(account) {
      const { startSandbox } = await import('../sandbox/sandbox.ts');
      const { rehearsalSeed } = await import('../sandbox/demo.ts');
      const seed = rehearsalSeed(account);
      const sandbox = await startSandbox({ seed });
      return { ...sandbox, seed: `${JSON.stringify(seed, null, 2)}\n` };
    },
    serve: async (configFile, options) => (await import('./daemon.ts')).serve(version, configFile, options),
    demo: async (options) => (await import('./demo.ts')).playDemo(environment, options),
  };
  return environment;
}
