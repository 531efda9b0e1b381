// Where the daemon's configuration comes from: the files beside --config, or its own checkout of a repository.
import type { ServiceSettings } from './core/settings.ts';
import type { ConfigurationSource } from './config/configuration-source.ts';
import { checkoutRoot } from './config/checkout-folder.ts';
import { createConfigurationSource } from './config/configuration-source.ts';
import type { Checkout } from './config/git-checkout.ts';
import { openCheckout } from './config/git-checkout.ts';
import { resolveSecret } from './config/secrets.ts';
import type { ConfigurationReader } from './daemon/account-book.ts';
import type { Log } from './daemon/log.ts';
import type { Metrics } from './daemon/metrics.ts';

export interface OpenSource {
  readonly configuration: ConfigurationSource;
  readonly reader: ConfigurationReader;
  /** Fetches now, where there is something to fetch. */
  refresh(): Promise<void>;
  /** Called when a new commit was accepted. */
  onUpdate(call: () => void): void;
  close(): Promise<void>;
}

export async function openSource(
  configFile: string,
  service: ServiceSettings,
  log: Log,
  metrics: Metrics,
): Promise<OpenSource> {
  const git = service.source?.git;
  if (git === undefined) return fromFiles(createConfigurationSource(configFile), () => null);
  const { credentials } = git;
  const checkout = await openCheckout(
    git,
    checkoutRoot(service),
    ...(credentials === undefined ? [] : [() => resolveSecret(credentials, 'git credentials')]),
  );
  const configuration = createConfigurationSource(configFile, { checkout });
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

  await refresh();
  const timer = setInterval(() => void refresh(), git.intervalMs);
  return {
    ...fromFiles(configuration, () => problem),
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

function fromFiles(configuration: ConfigurationSource, sourceProblem: () => string | null): OpenSource {
  return {
    configuration,
    reader: { ...configuration, sourceProblem },
    refresh: async () => undefined,
    onUpdate: () => undefined,
    close: async () => undefined,
  };
}
