// Watches the store for what other processes write: an approval starts a run of its account, a success ends a backoff.
import type { JournalReader } from '../core/journal-reader.ts';
import type { Clock } from '../core/ports.ts';
import type { Turns } from '../core/turns.ts';
import type { AccountRegistry } from './account-registry.ts';
import type { Log } from './log.ts';

const INTERVAL_MS = 2000;

export interface JournalWatchOptions {
  readonly registry: AccountRegistry;
  readonly turns: Pick<Turns, 'approve' | 'endBackoffs'>;
  readonly reader: Pick<JournalReader, 'approvals'>;
  readonly clock: Clock;
  readonly log: Log;
}

export interface JournalWatch {
  start(): void;
  /** Looks at once: an operator has approved a plan here. */
  lookNow(): void;
  stop(): Promise<void>;
}

/** Each approval starts one run at once. If that run fails, scheduled runs use the approval while it is valid. */
export function createJournalWatch(options: JournalWatchOptions): JournalWatch {
  const { registry, turns, reader, clock, log } = options;
  const stopping = new AbortController();
  let wake = new AbortController();
  let loop: Promise<void> | null = null;

  /** Whether a run of the account can use an approval now. */
  function canUse(account: string): boolean {
    const { settings = null, errors = [] } = registry.account(account) ?? {};
    return settings !== null && errors.length === 0;
  }

  async function look(): Promise<void> {
    for (const { account, givenAtMs } of await reader.approvals()) {
      if (canUse(account) && (await turns.approve(account, givenAtMs)))
        log.info({ event: 'approved', account }, 'a plan was approved');
    }
    await turns.endBackoffs();
  }

  async function watch(): Promise<void> {
    while (!stopping.signal.aborted) {
      wake = new AbortController();
      // Readiness and every run report a store that cannot be read.
      await look().catch(() => undefined);
      if (!stopping.signal.aborted) await clock.sleep(INTERVAL_MS, wake.signal);
    }
  }

  return {
    start() {
      loop ??= watch();
    },
    lookNow: () => wake.abort(),
    async stop() {
      stopping.abort();
      wake.abort();
      await loop;
    },
  };
}
