// Group commit for the write-ahead journal: all rows that are queued when a commit begins are one transaction, and no
// request is sent before the transaction that marks it as sent is on disk.
import type { Lease } from '../core/ports/locks.ts';
import type { Journal, OperationResult } from '../core/ports/journal.ts';

type Committed = ReturnType<Journal['commitOperations']>;

export interface OperationLog {
  /** Resolves when the row is committed as `sent`; after `lock_lost` the request must not be sent. */
  sent(seq: number, atMs: number): Committed;
  /** Queues a result; the next transaction commits it. */
  result(result: OperationResult): void;
  /** Resolves when every queued row is on disk. Rejects with the StoreError of a failed commit. */
  flush(): Promise<void>;
}

export function createOperationLog(journal: Journal, runId: string, lease: Lease): OperationLog {
  let sent: { seq: number; atMs: number }[] = [];
  /** The last result of each operation: one statement writes all of them in no particular order. */
  let results = new Map<number, OperationResult>();
  let last: Promise<unknown> = Promise.resolve();
  /** The commit of the queued rows; null when nothing is queued. */
  let next: Committed | null = null;

  function schedule(): Committed {
    if (next !== null) return next;
    next = last.then(commit);
    last = next;
    // A failure reaches every waiter and flush(); without waiters it must not crash the process.
    next.catch(() => undefined);
    return next;
  }

  async function commit(): Committed {
    // Rows of this turn of the event loop join the commit.
    await new Promise((resolve) => setImmediate(resolve));
    const batch = { sent, results: [...results.values()] };
    sent = [];
    results = new Map();
    next = null;
    return await journal.commitOperations(runId, lease, batch.sent, batch.results);
  }

  return {
    sent(seq, atMs) {
      sent.push({ seq, atMs });
      return schedule();
    },
    result(result) {
      results.set(result.seq, result);
      void schedule();
    },
    async flush() {
      await last;
    },
  };
}
