// Watches the store for what other processes write: an approval starts a run of its account, a success ends a backoff.
import type { JournalReader } from '../core/journal-reader.ts';
import type { Clock } from '../core/ports.ts';
import type { AccountRegistry } from './account-registry.ts';
import type { Log } from './log.ts';
import type { RunQueue } from './run-queue.ts';
import type { Scheduler } from './scheduler.ts';

const INTERVAL_MS = 2000;

export interface JournalWatchOptions {
  readonly registry: AccountRegistry;
  readonly queue: Pick<RunQueue, 'request'>;
  readonly scheduler: Pick<Scheduler, 'backingOff' | 'ended'>;
  readonly reader: JournalReader;
  readonly clock: Clock;
  readonly log: Log;
}

export interface JournalWatch {
  start(): void;
  stop(): Promise<void>;
}

/** Each approval starts one run at once. If that run fails, scheduled runs use the approval while it is valid. */
export function createJournalWatch(options: JournalWatchOptions): JournalWatch {
  const { registry, queue, scheduler, reader, clock, log } = options;
  const stopping = new AbortController();
  const started = new Map<string, number>();
  let loop: Promise<void> | null = null;

  /** Requests a run if it can use an approval now. */
  function requestApproved(account: string): boolean {
    const { settings = null, errors = [] } = registry.account(account) ?? {};
    if (settings === null || settings.mode === 'plan' || errors.length > 0) return false;
    return queue.request(account, 'approval');
  }

  async function look(): Promise<void> {
    for (const { account, givenAtMs } of await reader.approvals()) {
      if (started.get(account) === givenAtMs || !requestApproved(account)) continue;
      started.set(account, givenAtMs);
      log.info({ event: 'approved', account }, 'a plan was approved');
    }
    for (const name of scheduler.backingOff()) {
      const [record] = await reader.accounts(name);
      if (record?.state.consecutiveFailures === 0) scheduler.ended(name, 0);
    }
  }

  async function watch(): Promise<void> {
    while (!stopping.signal.aborted) {
      // Readiness and every run report a store that cannot be read.
      await look().catch(() => undefined);
      await clock.sleep(INTERVAL_MS, stopping.signal);
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
