// Killed at any moment: SIGKILL at every write to the store and around every request, each in its own account and
// store; then the program runs again.
import { afterAll, expect, test } from 'vitest';
import { unreached, type Point, tableOf, tryApply, type Verdict, failuresOf } from '../support/break-off.ts';
import { APPLY, crashScene, type PassedPoint, severalAtATime } from '../support/crash-scene.ts';
import type { Arrival } from '../support/gate.ts';

const AT_A_TIME = 4;
const verdicts: Verdict[] = [];

afterAll(() => console.log(tableOf(verdicts)));

interface Undisturbed {
  readonly passed: readonly PassedPoint[];
  readonly arrivals: readonly Arrival[];
}

/** The points and requests of an undisturbed run. */
async function undisturbed(): Promise<Undisturbed> {
  const scene = await crashScene();
  try {
    const { status, stderr } = await scene.start(APPLY, { trace: true }).ended;
    expect({ status, stderr }).toEqual({ status: 3, stderr: '' });
    return { passed: scene.passed(), arrivals: [...scene.gate.arrivals] };
  } finally {
    await scene.close();
  }
}

async function tryAll(points: readonly Point[]): Promise<void> {
  const tried = await severalAtATime(points, AT_A_TIME, async (point) => {
    const scene = await crashScene();
    try {
      return await tryApply(scene, point);
    } finally {
      await scene.close();
    }
  });
  verdicts.push(...tried);
  expect(failuresOf(tried)).toEqual([]);
  expect(unreached(tried)).toEqual([]);
}

test(
  'after a kill before or after any write to the store, the next run continues',
  { timeout: 600_000 },
  async () => {
    const { passed } = await undisturbed();
    const writes = passed.filter(({ at }) => at === 'before-write').map(({ what }) => what);
    const storeCreated = writes.findIndex((what) => /^commit$/i.test(what));
    const released = writes.findIndex((what) => /set lease_holder = null/.test(what));
    const part = (index: number): string =>
      index <= storeCreated ? 'creating the store' : index >= released ? 'the lease and pruning' : 'the run';
    const points = writes.flatMap((what, index): Point[] => {
      const point = { nth: index + 1, what };
      const before: Point = { ...point, at: 'before-write', row: `before a write: ${part(index)}` };
      const after: Point = { ...point, at: 'after-write', row: `after a commit: ${part(index)}` };
      // Within a transaction the moment after a write is the moment before the next write.
      return /^commit$|journal_mode|lease_holder = null/i.test(what) ? [before, after] : [before];
    });
    expect(points.length).toBeGreaterThan(100);
    await tryAll(points);
  },
);

test('after a kill before or after any request, the next run continues', { timeout: 600_000 }, async () => {
  const { arrivals } = await undisturbed();
  const points = arrivals.flatMap(({ nth, method }): Point[] => {
    const what = method;
    const common: Point[] = [
      { nth, what, at: 'request', row: `${method} before it is sent` },
      { nth, what, at: 'lost', row: `${method} that never arrives` },
      { nth, what, at: 'answer', row: `${method} after its response arrived` },
    ];
    if (method === 'GET') return common;
    return [
      ...common,
      { nth, what, at: 'late', row: `${method} with a late effect` },
      { nth, what, at: 'unanswered', row: `${method} before its response is sent` },
    ];
  });
  expect(points.length).toBeGreaterThan(70);
  await tryAll(points);
});
