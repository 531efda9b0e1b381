// The lock of an account from the view of a run: waiting, renewal, release.
import { describe, expect, it } from 'vitest';
import { keepLock, takeLock } from '../../../src/app/lease.ts';
import type { LockAttempt, Locks } from '../../../src/core/locks.ts';
import { QuickClock } from './quick-clock.ts';

const LEASE = { account: 'acme', token: 't' };

/** Locks that answer as told, and what they were asked. */
function locksThat(answers: {
  acquire?: (nowMs: number) => LockAttempt;
  renew?: () => Promise<boolean>;
}): Locks & { readonly asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    acquire: async (_account, _runId, nowMs) => {
      asked.push('acquire');
      return answers.acquire?.(nowMs) ?? { lease: LEASE };
    },
    renew: async () => {
      asked.push('renew');
      return (await answers.renew?.()) ?? true;
    },
    release: async ({ token }) => void asked.push(`release ${token}`),
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
    return { result, waitedFor, passedMs: clock.nowMs() - startMs, asked: locks.asked.length };
  }

  it('does not wait when it is free', async () => {
    expect(await take(1000, 0)).toEqual({ result: { lease: LEASE }, waitedFor: [], passedMs: 0, asked: 1 });
  });

  it('waits for its holder, and reports the wait once', async () => {
    const { result, waitedFor, asked } = await take(10_000, 1000);
    expect([result, waitedFor, asked > 2]).toEqual([{ lease: LEASE }, ['pid 7'], true]);
  });

  it('returns its holder when the time has passed', async () => {
    const { result, passedMs } = await take(10_000, Infinity);
    expect([result, passedMs >= 10_000, passedMs < 11_000]).toEqual([{ heldBy: 'pid 7' }, true, true]);
  });

  it('tries once and reports no wait without a timeout', async () => {
    expect(await take(0, Infinity)).toEqual({
      result: { heldBy: 'pid 7' },
      waitedFor: [],
      passedMs: 0,
      asked: 1,
    });
  });

  it('ends when the run is stopped', async () => {
    expect(await take(10_000, Infinity, true)).toMatchObject({ result: { heldBy: 'pid 7' }, asked: 1 });
  });
});

describe('keeping the lock', () => {
  /** Lets everything that is ready happen. */
  const settled = () => new Promise((resolve) => setImmediate(resolve));

  it('renews it regularly until its release', async () => {
    const clock = new QuickClock();
    const locks = locksThat({});
    const release = keepLock(LEASE, locks, clock);
    clock.pass(4999);
    await settled();
    expect(locks.asked).toEqual([]);
    for (let times = 1; times <= 3; times += 1) {
      clock.pass(5000);
      await settled();
      expect(locks.asked).toHaveLength(times);
    }
    await release();
    expect(locks.asked).toEqual(['renew', 'renew', 'renew', 'release t']);
    clock.pass(60_000);
    await settled();
    expect(locks.asked).toHaveLength(4);
  });

  it('stops when it is lost', async () => {
    const clock = new QuickClock();
    const locks = locksThat({ renew: () => Promise.resolve(false) });
    const release = keepLock(LEASE, locks, clock);
    for (let times = 1; times <= 3; times += 1) {
      clock.pass(5000);
      await settled();
    }
    await release();
    expect(locks.asked).toEqual(['renew', 'release t']);
  });

  it('tries again when it could not be renewed', async () => {
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
    expect(locks.asked).toEqual(['renew', 'renew', 'release t']);
  });
});
