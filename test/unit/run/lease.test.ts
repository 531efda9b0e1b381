// The lock of an account from the view of a run.
import { describe, expect, it } from 'vitest';
import { takeLock } from '../../../src/run/lease.ts';
import type { AccountLocks, LockAttempt } from '../../../src/core/ports/locks.ts';
import { QuickClock } from './quick-clock.ts';

const LEASE = { account: 'acme', runId: 'run', takenAtMs: 0 };

/** Locks with the given answers, and the calls that they received. */
function locksThat(answers: {
  acquire?: (nowMs: number) => LockAttempt;
}): AccountLocks & { readonly calls: string[] } {
  const calls: string[] = [];
  return {
    calls,
    acquire: async (_account, _runId, nowMs) => {
      calls.push('acquire');
      return answers.acquire?.(nowMs) ?? { lease: LEASE };
    },
    release: async ({ runId }) => void calls.push(`release ${runId}`),
  };
}

describe('taking the lock', () => {
  async function take(timeoutMs: number, freeAfterMs: number, stopped = false) {
    const clock = new QuickClock();
    const startMs = clock.nowMs();
    const stop = new AbortController();
    if (stopped) stop.abort();
    const waitedFor: string[] = [];
    const locks = locksThat({
      acquire: (nowMs) => (nowMs - startMs >= freeAfterMs ? { lease: LEASE } : { heldBy: 'pid 7' }),
    });
    const result = await takeLock(
      { account: 'acme', runId: 'run' },
      { locks, clock },
      {
        timeoutMs,
        stop: stop.signal,
        onWait: (heldBy) => void waitedFor.push(heldBy),
      },
    );
    return { result, waitedFor, passedMs: clock.nowMs() - startMs, calls: locks.calls.length };
  }

  it('does not wait when it is free', async () => {
    expect(await take(1000, 0)).toEqual({ result: { lease: LEASE }, waitedFor: [], passedMs: 0, calls: 1 });
  });

  it('waits for its holder, and reports the wait once', async () => {
    const { result, waitedFor, calls } = await take(10_000, 1000);
    expect([result, waitedFor, calls > 2]).toEqual([{ lease: LEASE }, ['pid 7'], true]);
  });

  it('returns its holder after the timeout', async () => {
    const { result, passedMs } = await take(10_000, Infinity);
    expect([result, passedMs >= 10_000, passedMs < 11_000]).toEqual([{ heldBy: 'pid 7' }, true, true]);
  });

  it('tries once and reports no wait without a timeout', async () => {
    expect(await take(0, Infinity)).toEqual({
      result: { heldBy: 'pid 7' },
      waitedFor: [],
      passedMs: 0,
      calls: 1,
    });
  });

  it('ends when the run is stopped', async () => {
    expect(await take(10_000, Infinity, true)).toMatchObject({ result: { heldBy: 'pid 7' }, calls: 1 });
  });
});
