// Group commit for the write-ahead journal: all rows of one turn of the event loop are one transaction, and no request
// is sent before the transaction that marks it as sent is on disk.
import type { Lease, SentCommit } from '../core/locks.ts';
import type { Journal, OperationResult } from '../core/ports.ts';

export interface OperationLog {
  /** Resolves when the row is committed as `sent`; after `lock_lost` the request must not be sent. */
  sent(seq: number, atMs: number): Promise<SentCommit>;
  /** Queues a result; the next transaction commits it. */
  result(result: OperationResult): void;
  /** Resolves when every queued row is on disk. Rejects with the StoreError of a failed commit. */
  flush(): Promise<void>;
}

export function createOperationLog(journal: Journal, runId: string, lease: Lease): OperationLog {
  let sent: { seq: number; atMs: number; resolve: (commit: Promise<SentCommit>) => void }[] = [];
  let results: OperationResult[] = [];
  let chain: Promise<unknown> = Promise.resolve();
  let scheduled = false;

  function schedule(): void {
    if (scheduled) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      const batch = { sent, results };
      sent = [];
      results = [];
      const commit = chain.then(() => journal.commitOperations(runId, lease, batch.sent, batch.results));
      chain = commit;
      // A failure reaches every waiter and flush(); without waiters it must not crash the process.
      commit.catch(() => undefined);
      for (const { resolve } of batch.sent) resolve(commit);
    });
  }

  return {
    sent: (seq, atMs) =>
      new Promise((resolve) => {
        sent.push({ seq, atMs, resolve });
        schedule();
      }),
    result(result) {
      results.push(result);
      schedule();
    },
    async flush() {
      while (scheduled) await new Promise((resolve) => setImmediate(resolve));
      await chain;
    },
  };
}
