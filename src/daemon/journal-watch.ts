// What other processes leave in the store: an approval has its account run, a success of theirs ends a backoff.
import type { JournalReader } from '../core/journal-reader.ts';
import type { Clock } from '../core/ports.ts';
import type { Log } from './log.ts';
import type { Scheduler } from './scheduler.ts';

const EVERY_MS = 2000;

export interface JournalWatchOptions {
  readonly reader: JournalReader;
  readonly clock: Clock;
  readonly log: Log;
  /** Asks for a run of the account; false when it cannot run now. */
  readonly request: (account: string) => boolean;
  readonly scheduler: Pick<Scheduler, 'heldBack' | 'ended'>;
}

export interface JournalWatch {
  stop(): Promise<void>;
}

/** Each approval starts one run at once; should that fail, the account's scheduled runs use it while it lasts. */
export function watchJournal({ reader, clock, log, request, scheduler }: JournalWatchOptions): JournalWatch {
  const stopping = new AbortController();
  const started = new Map<string, number>();

  async function look(): Promise<void> {
    const approvals = await reader.approvals();
    for (const { account, givenAtMs } of approvals) {
      if (started.get(account) === givenAtMs || !request(account)) continue;
      started.set(account, givenAtMs);
      log.info({ event: 'approved', account }, 'a plan was approved');
    }
    for (const name of scheduler.heldBack()) {
      const [record] = await reader.accounts(name);
      if (record?.state.consecutiveFailures === 0) scheduler.ended(name, 0);
    }
  }

  const loop = (async () => {
    while (!stopping.signal.aborted) {
      // A store that cannot be read is told by readiness and by every run.
      await look().catch(() => undefined);
      await clock.sleep(EVERY_MS, stopping.signal);
    }
  })();
  return {
    async stop() {
      stopping.abort();
      await loop;
    },
  };
}
