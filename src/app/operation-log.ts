// Group commit for the write-ahead journal: what happens within one turn of the event loop is one transaction, and
// no request leaves before the transaction that says so is on disk.
import type { Lease, SentCommit } from '../core/locks.ts';
import type { Journal, OperationResult } from '../core/ports.ts';

export interface OperationLog {
  /** Resolves when the row is committed as `sent`; `lock_lost` means that the request must not leave. */
  sent(seq: number, atMs: number): Promise<SentCommit>;
  /** Takes note of a result; it is committed with the next transaction at the latest. */
  result(result: OperationResult): void;
  /** Resolves when everything noted is on disk. Rejects with the StoreError that a commit met. */
  flush(): Promise<void>;
}

export function createOperationLog(journal: Journal, runId: string, lease: Lease): OperationLog {
  let sent: { seq: number; atMs: number; settle: (commit: Promise<SentCommit>) => void }[] = [];
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
      // The chain's failure reaches every waiter and flush(); without waiters it must not crash the process.
      commit.catch(() => undefined);
      for (const { settle } of batch.sent) settle(commit);
    });
  }

  return {
    sent: (seq, atMs) =>
      new Promise((resolve) => {
        sent.push({ seq, atMs, settle: resolve });
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
