// The disk of the store is full before a run or becomes full during it: no request is sent that is not journaled, the
// program reports the reason, and the next run continues when there is room.
import { dirname } from 'node:path';
import { afterAll, expect, test, type TestContext } from 'vitest';
import {
  BROKEN,
  runToCompletion,
  judgeAfter,
  unreached,
  type Point,
  tableOf,
  type Verdict,
  failuresOf,
} from '../support/break-off.ts';
import { APPLY, type CrashScene, crashScene, severalAtATime } from '../support/crash-scene.ts';
import { mountSmallDisk, type SmallDisk } from '../support/small-disk.ts';
import { hasStopped } from '../support/stopped.ts';
import type { Result } from '../support/workspace.ts';

const AT_A_TIME = 4;
const verdicts: Verdict[] = [];
let reported = 0;

afterAll(() => console.log(`${tableOf(verdicts)}\nreported that the disk is full: ${reported}`));

type Fill = Point & { readonly leaveBytes: number };
type Disturbed = (scene: CrashScene, disk: SmallDisk, fill: Fill) => Promise<Result | null>;

/** Fills the disk at the point, empties it, and runs the program again as after a kill. */
async function tryAll(context: TestContext, fills: readonly Fill[], disturb: Disturbed): Promise<void> {
  const tried = await severalAtATime(fills, AT_A_TIME, async (fill) => {
    const scene = await crashScene();
    const disk = mountSmallDisk(dirname(scene.store));
    if (disk === null) return context.skip('no tmpfs can be mounted here');
    try {
      scene.gate.phase = BROKEN;
      const result = await disturb(scene, disk, fill);
      disk.empty();
      const verdict = await judgeAfter(scene, fill, result !== null, await runToCompletion(scene));
      return {
        ...verdict,
        breaches: [...(result === null ? [] : reportBreaches(result)), ...verdict.breaches],
      };
    } finally {
      disk.unmount();
      await scene.close();
    }
  });
  verdicts.push(...tried);
  expect(failuresOf(tried)).toEqual([]);
  expect(unreached(tried)).toEqual([]);
}

/** A run either did not need the room, or fails with the reason. */
function reportBreaches({ status, stdout, stderr }: Result): string[] {
  if (status === 3 && stderr === '') return [];
  const isClear =
    /rolecall\.db: the disk of the store is full; free some space/.test(stderr) &&
    !/a bug in rolecall/.test(stderr);
  if (isClear) reported += 1;
  return status === 1 && isClear
    ? []
    : [`it ended with ${status} and printed ${stderr} ${stdout.slice(0, 200)}`];
}

/** The points of an undisturbed run: its requests, and the beginnings of its transactions. */
async function undisturbed(): Promise<{ requests: number; begins: readonly number[] }> {
  const scene = await crashScene();
  try {
    expect((await scene.start(APPLY, { trace: true }).ended).status).toBe(3);
    const writes = scene.passed().filter(({ at }) => at === 'before-write');
    const begins = writes.flatMap(({ what }, index) => (/^begin/i.test(what) ? [index + 1] : []));
    return { requests: scene.gate.arrivals.length, begins };
  } finally {
    await scene.close();
  }
}

test(
  'a run on a disk that is already full sends nothing unjournaled, and the next run with room completes',
  { timeout: 300_000 },
  async (context) => {
    const leaves = [0, 4096, 16_384, 65_536, 131_072, 262_144];
    const fills = leaves.flatMap((leaveBytes): Fill[] => [
      {
        at: 'request',
        nth: leaveBytes,
        what: 'before the first run',
        row: 'full before the store exists',
        leaveBytes,
      },
    ]);
    await tryAll(context, fills, async (scene, disk, { leaveBytes }) => {
      disk.fill(leaveBytes);
      return await scene.start(APPLY).ended;
    });
  },
);

test(
  'a disk that becomes full at any request causes no unjournaled write, and the next run completes',
  { timeout: 600_000 },
  async (context) => {
    const { requests } = await undisturbed();
    const fills = Array.from({ length: requests }, (_, index): Fill => {
      const leaveBytes = index % 3 === 2 ? 16_384 : 0;
      return {
        at: 'request',
        nth: index + 1,
        what: `${leaveBytes} left`,
        row: 'full from a request on',
        leaveBytes,
      };
    });
    await tryAll(context, fills, async (scene, disk, { nth, leaveBytes }) => {
      scene.gate.watch = {
        arrived(arrival) {
          if (arrival.phase === BROKEN && arrival.nth === nth) disk.fill(leaveBytes);
          return 'on';
        },
      };
      return await scene.start(APPLY).ended;
    });
  },
);

test(
  'a disk that becomes full at any transaction causes no unjournaled write, and the next run completes',
  { timeout: 600_000 },
  async (context) => {
    const { begins } = await undisturbed();
    const fills = begins.map((nth, index): Fill => {
      const leaveBytes = index % 3 === 2 ? 8192 : 0;
      return {
        at: 'before-write',
        nth,
        what: `${leaveBytes} left`,
        row: 'full from a transaction on',
        leaveBytes,
      };
    });
    await tryAll(context, fills, async (scene, disk, { nth, leaveBytes }) => {
      const running = scene.start(APPLY, { strike: { at: 'before-write', nth, signal: 'SIGSTOP' } });
      const reached = await hasStopped(running);
      if (reached) disk.fill(leaveBytes);
      running.process.kill('SIGCONT');
      const result = await running.ended;
      return reached ? result : null;
    });
  },
);
