// Waits for the lease of an account.
import type { AccountLocks, LockAttempt } from '../core/ports/locks.ts';
import type { Clock } from '../core/ports/clock.ts';

const LOCK_POLL_MS = 250;

/** Waits for the lock, up to `timeoutMs`. Resolves with the holder when that time has passed. */
export async function takeLock(
  of: { readonly account: string; readonly runId: string },
  { locks, clock }: { readonly locks: AccountLocks; readonly clock: Clock },
  options: {
    readonly timeoutMs: number;
    readonly stop: AbortSignal;
    readonly onWait?: (heldBy: string) => void;
  },
): Promise<LockAttempt> {
  const deadlineMs = clock.nowMs() + options.timeoutMs;
  for (let isReported = false; ; isReported = true) {
    const attempt = await locks.acquire(of.account, of.runId, clock.nowMs());
    if ('lease' in attempt) return attempt;
    if (clock.nowMs() >= deadlineMs || options.stop.aborted) return attempt;
    if (!isReported) options.onWait?.(attempt.heldBy);
    await clock.sleep(LOCK_POLL_MS, options.stop);
  }
}
