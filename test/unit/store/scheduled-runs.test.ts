// Whether a tick has been run already, by any process.
import { describe, expect, it } from 'vitest';
import type { Trigger } from '../../../src/core/journal.ts';
import type { RunFence } from '../../../src/core/locks.ts';
import { fixture, runId, T0 } from './fixture.ts';

const MINUTE = 60_000;

/** A store with runs that began this many minutes after T0, in this order. */
async function begun(...runs: readonly (readonly [minutes: number, trigger: Trigger])[]) {
  const { journal } = await fixture();
  for (const [index, [minutes, trigger]] of runs.entries()) {
    await journal.beginRun({
      id: runId(index),
      account: 'acme',
      trigger,
      mode: 'plan',
      startedAtMs: T0 + minutes * MINUTE,
      configDigest: null,
      configCommit: null,
    });
  }
  return (fromMinutes: number, toMinutes: number) =>
    journal.hasScheduledRun('acme', T0 + fromMinutes * MINUTE, T0 + toMinutes * MINUTE);
}

it('a tick counts as run when a scheduled run started at or after it', async () => {
  const isRun = await begun([-15, 'schedule'], [0, 'catch_up']);
  expect([await isRun(0, 1), await isRun(-1, 0), await isRun(1, 2)]).toEqual([true, true, false]);
});

it('a manual run and a run at the start do not count as the run of a tick', async () => {
  const isRun = await begun([0, 'manual'], [0, 'start'], [0, 'approval'], [0, 'cli']);
  expect(await isRun(0, 1)).toBe(false);
});

it('ticks that repeat after the clock was set back are run again', async () => {
  const isRun = await begun([0, 'schedule'], [15, 'schedule'], [30, 'schedule']);
  expect([await isRun(0, 1), await isRun(15, 16)]).toEqual([false, false]);
  const isRunAgain = await begun([0, 'schedule'], [15, 'schedule'], [0.5, 'schedule']);
  expect([await isRunAgain(0, 1), await isRunAgain(15, 16)]).toEqual([true, false]);
});

describe('a run of a tick', () => {
  const run = (index: number) => ({
    id: runId(index),
    account: 'acme',
    trigger: 'schedule' as const,
    mode: 'plan' as const,
    startedAtMs: T0,
    configDigest: null,
    configCommit: null,
  });
  const fence = (tickMs: number, nowMs = T0 + 20): RunFence => ({
    lease: undefined,
    permit: { type: 'tick', tickMs },
    nowMs: () => nowMs,
  });
  const failure = { code: 'config_invalid', message: 'invalid' };

  it('begins only once, although two processes begin it at the same moment', async () => {
    const { journal } = await fixture();
    const begins = await Promise.allSettled(
      [1, 2].map((index) => journal.beginRun(run(index), fence(T0 - 10))),
    );
    expect(begins.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    expect(begins.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: { code: 'run_made' },
    });
  });

  it('is not made again by a process that was suspended right before it began', async () => {
    const { journal } = await fixture();
    await journal.beginRun({ ...run(1), startedAtMs: T0 + MINUTE }, fence(T0, T0 + MINUTE));
    await expect(journal.beginRun(run(2), fence(T0, T0 + 2 * MINUTE))).rejects.toMatchObject({
      code: 'run_made',
    });
    await expect(journal.beginRun(run(3), fence(T0 + MINUTE + 1, T0 + 2 * MINUTE))).resolves.toBeUndefined();
  });

  it('of an account with an invalid file is journaled only once', async () => {
    const { journal } = await fixture();
    await journal.recordFailedRun(run(1), failure, fence(T0 - 10));
    await expect(journal.recordFailedRun(run(2), failure, fence(T0 - 10))).rejects.toMatchObject({
      code: 'run_made',
    });
  });

  it('does not begin with a lock that another process has taken over', async () => {
    const store = await fixture();
    const lease = await store.take(runId(1));
    await store.take(runId(2), T0 + 31_000);
    await expect(
      store.journal.beginRun({ ...run(1), mode: 'apply' }, { ...fence(T0 - 10), lease }),
    ).rejects.toMatchObject({ code: 'run_made' });
  });
});
