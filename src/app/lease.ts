// Holds an account's lock during a run, and reports when the lock is lost.
import type { Lease, Locks } from '../core/locks.ts';
import type { Clock } from '../core/ports.ts';

const RENEW_MS = 5000;
const LOCK_POLL_MS = 250;

/** Waits for the lock, up to `timeoutMs`. Resolves with the holder when that time has passed. */
export async function takeLock(
  { account, runId }: { readonly account: string; readonly runId: string },
  { locks, clock }: { readonly locks: Locks; readonly clock: Clock },
  options: {
    readonly timeoutMs: number;
    readonly stop: AbortSignal;
    readonly onWait?: (heldBy: string) => void;
  },
): Promise<{ readonly lease: Lease } | { readonly heldBy: string }> {
  const deadlineMs = clock.nowMs() + options.timeoutMs;
  for (let isReported = false; ; isReported = true) {
    const attempt = await locks.acquire(account, runId, clock.nowMs());
    if ('lease' in attempt) return attempt;
    if (clock.nowMs() >= deadlineMs || options.stop.aborted) return attempt;
    if (!isReported) options.onWait?.(attempt.heldBy);
    await clock.sleep(LOCK_POLL_MS, options.stop);
  }
}

/** Renews the lock until it is lost or the returned function is called, which also releases the lock. */
export function keepLock(lease: Lease, locks: Locks, clock: Clock): () => Promise<void> {
  const ended = new AbortController();
  const loop = (async () => {
    for (;;) {
      await clock.sleep(Math.min(RENEW_MS, locks.leaseMs / 4), ended.signal);
      if (ended.signal.aborted) return;
      // A renewal that fails is tried again: every commit checks the lock anyway.
      const held = await locks.renew(lease, clock.nowMs()).catch(() => true);
      if (!held) return;
    }
  })();
  return async () => {
    ended.abort();
    await loop;
    await locks.release(lease);
  };
}
