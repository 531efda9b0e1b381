// Approvals are kept in the store, wherever they were given: this looks for new ones and has their accounts run.
import type { JournalReader } from '../core/journal-reader.ts';
import type { Clock } from '../core/ports.ts';
import type { Log } from './log.ts';

const EVERY_MS = 2000;

export interface ApprovalWatchOptions {
  readonly reader: JournalReader;
  readonly clock: Clock;
  readonly log: Log;
  /** Asks for a run of the account; false when it cannot run now. */
  readonly request: (account: string) => boolean;
}

export interface ApprovalWatch {
  stop(): Promise<void>;
}

/** Each approval starts one run at once; should that fail, the account's scheduled runs use it while it lasts. */
export function watchApprovals({ reader, clock, log, request }: ApprovalWatchOptions): ApprovalWatch {
  const stopping = new AbortController();
  const started = new Map<string, number>();

  async function look(): Promise<void> {
    const approvals = await reader.approvals();
    for (const { account, givenAtMs } of approvals) {
      if (started.get(account) === givenAtMs || !request(account)) continue;
      started.set(account, givenAtMs);
      log.info({ event: 'approved', account }, 'a plan was approved');
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
