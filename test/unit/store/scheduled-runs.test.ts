// Whether a tick has been run already, by any process.
import { expect, it } from 'vitest';
import type { Trigger } from '../../../src/core/journal.ts';
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
