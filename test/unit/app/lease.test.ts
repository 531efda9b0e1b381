// The lock of an account from the view of a run: waiting, renewal, release.
import { describe, expect, it } from 'vitest';
import { keepLock, takeLock } from '../../../src/app/lease.ts';
import type { LockAttempt, Locks } from '../../../src/core/locks.ts';
import { QuickClock } from './quick-clock.ts';

const LEASE = { account: 'acme', token: 't' };

/** Locks with the given answers, and the calls that they received. */
function locksThat(answers: {
  acquire?: (nowMs: number) => LockAttempt;
  renew?: () => Promise<boolean>;
}): Locks & { readonly calls: string[] } {
  const calls: string[] = [];
  return {
    calls,
    leaseMs: 30_000,
    acquire: async (_account, _runId, nowMs) => {
      calls.push('acquire');
      return answers.acquire?.(nowMs) ?? { lease: LEASE };
    },
    renew: async () => {
      calls.push('renew');
      return (await answers.renew?.()) ?? true;
    },
    release: async ({ token }) => void calls.push(`release ${token}`),
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

describe('keeping the lock', () => {
  /** Waits until everything that is ready has run. */
  const settled = () => new Promise((resolve) => setImmediate(resolve));

  it('renews it regularly until its release', async () => {
    const clock = new QuickClock();
    const locks = locksThat({});
    const release = keepLock(LEASE, locks, clock);
    clock.pass(4999);
    await settled();
    expect(locks.calls).toEqual([]);
    for (let times = 1; times <= 3; times += 1) {
      clock.pass(5000);
      await settled();
      expect(locks.calls).toHaveLength(times);
    }
    await release();
    expect(locks.calls).toEqual(['renew', 'renew', 'renew', 'release t']);
    clock.pass(60_000);
    await settled();
    expect(locks.calls).toHaveLength(4);
  });

  it('stops renewing a lost lock', async () => {
    const clock = new QuickClock();
    const locks = locksThat({ renew: () => Promise.resolve(false) });
    const release = keepLock(LEASE, locks, clock);
    for (let times = 1; times <= 3; times += 1) {
      clock.pass(5000);
      await settled();
    }
    await release();
    expect(locks.calls).toEqual(['renew', 'release t']);
  });

  it('tries again after a failed renewal', async () => {
    const clock = new QuickClock();
    let tries = 0;
    const locks = locksThat({
      renew: () => {
        tries += 1;
        return tries === 1 ? Promise.reject(new Error('busy')) : Promise.resolve(true);
      },
    });
    const release = keepLock(LEASE, locks, clock);
    clock.pass(5000);
    await settled();
    clock.pass(5000);
    await settled();
    await release();
    expect(locks.calls).toEqual(['renew', 'renew', 'release t']);
  });
});
