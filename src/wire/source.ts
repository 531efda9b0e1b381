// Where the daemon's configuration comes from: the files beside --config, or its own checkout of a repository.
import { ConfigError } from '../core/errors.ts';
import type { ServiceSettings } from '../core/settings.ts';
import type { ConfigurationSource } from '../config/configuration-source.ts';
import { checkoutRoot } from '../git/checkout-folder.ts';
import { createConfigurationSource } from '../config/configuration-source.ts';
import { createCommitReader } from '../git/commit-cache.ts';
import type { Checkout } from '../git/checkout.ts';
import { openCheckout } from '../git/checkout.ts';
import { resolveSecret } from '../config/secrets.ts';
import type { ConfigurationReader } from '../daemon/account-registry.ts';
import type { Log } from '../daemon/log.ts';
import type { Metrics } from '../daemon/metrics.ts';

export interface OpenSource {
  readonly configuration: ConfigurationSource;
  readonly reader: ConfigurationReader;
  /** The settings that the daemon starts with: with a checkout, what that says of them included. */
  readonly service: ServiceSettings;
  /** Fetches now, where there is something to fetch. */
  refresh(): Promise<void>;
  /** Called when a new commit was accepted. */
  onUpdate(call: () => void): void;
  close(): Promise<void>;
}

/** The service's file as it stands, and what has been read of the files beside it. */
export interface Bootstrap {
  readonly service: ServiceSettings;
  readonly files: ConfigurationSource;
}

/** Reads the files beside --config. Throws ConfigError when the service's file is not sound. */
export async function readBootstrap(configFile: string): Promise<Bootstrap> {
  const files = createConfigurationSource(configFile, createCommitReader());
  const { service, issues } = await files.read();
  if (service === undefined) throw new ConfigError(issues.filter(({ severity }) => severity === 'error'));
  return { service, files };
}

export async function openSource(
  configFile: string,
  { service, files }: Bootstrap,
  log: Log,
  metrics: Metrics,
): Promise<OpenSource> {
  const git = service.source?.git;
  if (git === undefined) return fromFiles(files, service, () => null);
  const { credentials } = git;
  const checkout = await openCheckout(git, checkoutRoot(service), async () =>
    credentials === undefined ? undefined : await resolveSecret(credentials, 'git credentials'),
  );
  const configuration = createConfigurationSource(configFile, createCommitReader(), { checkout });
  let problem: string | null = null;
  let onUpdate = (): void => undefined;
  const stopping = new AbortController();

  function say(found: string | null): void {
    if (found === problem) return;
    problem = found;
    if (found !== null) log.error({ event: 'source_failed', reason: found }, 'the newest commit is not used');
    else log.info({ event: 'source_mended' }, 'the newest commit is used again');
  }

  async function refresh(): Promise<void> {
    const result = await checkout.refresh(stopping.signal);
    if (stopping.signal.aborted) return;
    metrics.sourceRefused(result.type === 'refused');
    if (result.type !== 'failed') metrics.sourceFetched();
    say('reason' in result ? result.reason : null);
    if (result.type !== 'updated') return;
    log.info({ event: 'source_updated', commit: result.sha }, 'a new commit is used');
    onUpdate();
  }

  // How long it takes until the first success counts, too.
  metrics.sourceFetched();
  await refresh();
  const timer = setInterval(() => void refresh(), git.intervalMs);
  return {
    ...fromFiles(configuration, (await configuration.read()).service ?? service, () => problem),
    refresh,
    onUpdate(call) {
      onUpdate = call;
    },
    async close() {
      clearInterval(timer);
      stopping.abort();
      await refreshed(checkout);
    },
  };
}

/** A fetch that is under way ends at once, and its folder is left in order. */
async function refreshed(checkout: Checkout): Promise<void> {
  await checkout.refresh(AbortSignal.abort());
}

function fromFiles(
  configuration: ConfigurationSource,
  service: ServiceSettings,
  sourceProblem: () => string | null,
): OpenSource {
  return {
    configuration,
    service,
    reader: { ...configuration, sourceProblem },
    refresh: async () => undefined,
    onUpdate: () => undefined,
    close: async () => undefined,
  };
}
