// Keeps the gauges of accounts that other replicas run too: without it a replica would export the state of an account as
// it was when it ran it last, for ever.
import type { AccountBrief, JournalReader } from '../core/journal-reader.ts';
import type { Clock } from '../core/ports.ts';
import type { AccountRegistry } from './account-registry.ts';
import type { Metrics } from './metrics.ts';

export interface SharedGaugesOptions {
  readonly registry: Pick<AccountRegistry, 'names'>;
  readonly reader: Pick<JournalReader, 'accountBriefs'>;
  readonly metrics: Pick<Metrics, 'account' | 'latest' | 'restore'>;
  readonly clock: Pick<Clock, 'sleep'>;
}

export interface SharedGauges {
  start(): void;
  stop(): Promise<void>;
}

/** Prometheus reads the metrics about as often. */
const EVERY_MS = 15_000;

/** Pauses, pending plans and successes are those of the store; the results of a run are shown by the replica that made it. */
export function createSharedGauges({ registry, reader, metrics, clock }: SharedGaugesOptions): SharedGauges {
  const stopping = new AbortController();
  let loop: Promise<void> | null = null;

  async function refresh(): Promise<void> {
    const briefs = await reader.accountBriefs();
    for (const { name, pause, pending, lastRun, lastSuccessAt } of briefs) {
      if (!registry.names().has(name)) continue;
      metrics.account(name, { isPaused: pause !== null, pending: pending?.digest ?? null });
      metrics.restore(name, { lastSuccessAt });
      if (lastRun !== null && hasResults(lastRun)) metrics.latest(name, lastRun.id);
    }
  }

  async function watch(): Promise<void> {
    while (!stopping.signal.aborted) {
      await clock.sleep(EVERY_MS, stopping.signal);
      // Readiness and a metric report a store that cannot be read.
      if (!stopping.signal.aborted) await refresh().catch(() => undefined);
    }
  }

  return {
    start() {
      loop ??= watch();
    },
    async stop() {
      stopping.abort();
      await loop;
    },
  };
}

/** Whether the run replaces the results of earlier ones. A command that only plans exports none, and may have other files. */
function hasResults(run: NonNullable<AccountBrief['lastRun']>): boolean {
  const isOfCommand = run.trigger === 'cli' && run.mode === 'plan';
  return !isOfCommand && run.status !== 'running' && run.planDigest !== null;
}
