// A daemon that is killed at any moment, and the next one.
import { afterAll, expect, test } from 'vitest';
import {
  breakOff,
  judgeAfter,
  unreached,
  type Point,
  tableOf,
  type Verdict,
  failuresOf,
} from '../support/break-off.ts';
import { inspectStore } from '../support/crash-judge.ts';
import { ACCOUNT, CRASH_API, type CrashScene, crashScene, severalAtATime } from '../support/crash-scene.ts';
import { EVERY_SECOND, HTTP_TOKEN, ONCE_A_YEAR, startDaemon, WITH_TOKEN } from '../support/daemon.ts';
import { until, writeAccount } from '../support/workspace.ts';

const AT_A_TIME = 4;
const verdicts: Verdict[] = [];
afterAll(() => console.log(tableOf(verdicts)));

/** Only the first run matters: its rows are compared with all requests. */
const daemonOf = (schedule: string): string =>
  `defaults: { mode: apply, schedule: ${schedule} }\n${WITH_TOKEN}`;
const DAEMON_ENV = { ROLECALL_HTTP_TOKEN: HTTP_TOKEN };

/** Works in a separate scene of a daemon that runs once, which is always closed. */
async function within<T>(work: (scene: CrashScene) => Promise<T>): Promise<T> {
  const scene = await crashScene({ service: daemonOf(ONCE_A_YEAR) });
  try {
    return await work(scene);
  } finally {
    await scene.close();
  }
}

async function daemonPoints(): Promise<Point[]> {
  return await within(async (scene) => {
    const daemon = await startDaemon({
      start: (args, options) => scene.start(args, { ...options, trace: true }),
    });
    await until('its first run has ended', () => daemon.runsEnded('acme', 'held') > 0);
    await daemon.stop();
    const writes = scene.passed().filter(({ at }) => at === 'before-write');
    const over = writes.findIndex(({ what }) => /set lease_holder = null/.test(what));
    const sample = writes.slice(0, over + 1).flatMap(({ what }, index): Point[] => {
      const point = { nth: index + 1, what, row: 'serve: a write' };
      if (/^commit/i.test(what)) return [{ ...point, at: 'after-write' }];
      return index % 6 === 0 ? [{ ...point, at: 'before-write' }] : [];
    });
    const requests = scene.gate.arrivals.slice(0, 20).flatMap(({ nth, method }): Point[] => {
      const point = { nth, what: method, row: 'serve: a request' };
      if (method === 'GET') return nth % 2 === 0 ? [{ ...point, at: 'lost' }] : [];
      return [{ ...point, at: nth % 2 === 0 ? 'unanswered' : 'late' }];
    });
    return [...sample, ...requests];
  });
}

test('a daemon continues the work of a killed one', { timeout: 600_000 }, async () => {
  const points = await daemonPoints();
  expect(points.length).toBeGreaterThan(40);
  const tried = await severalAtATime(points, AT_A_TIME, (point) =>
    within(async (scene) => {
      const reached = await breakOff(scene, point, (strike) => {
        const running = scene.start(['serve'], {
          env: DAEMON_ENV,
          ...(strike === undefined ? {} : { strike }),
        });
        // A daemon that does not reach the point would run for ever. SIGTERM ends it, unlike those that reach the
        // point.
        void until('it was killed', () => running.process.signalCode !== null).catch(() =>
          running.process.kill('SIGTERM'),
        );
        return running;
      });
      const broken = inspectStore(scene.store);
      scene.gate.phase = 'next';
      // The next runs complete what its first run leaves.
      const service = daemonOf(EVERY_SECOND);
      writeAccount(scene.workspace, scene.gate.url, ACCOUNT, { api: CRASH_API, service });
      const next = await startDaemon(scene.workspace);
      // Without history the first run holds the deletes, and the second one applies them; otherwise one is enough.
      const runs = broken.hasHistory ? 1 : 2;
      await until('the next one has ended its runs', () => next.runsEnded('acme', 'held') >= runs);
      const failed = next.events('run_failed').map(({ reason }) => `the next daemon failed: ${reason}`);
      await next.stop();
      return await judgeAfter(scene, point, reached, { runs: 1, breaches: failed, broken });
    }),
  );
  verdicts.push(...tried);
  expect(failuresOf(tried)).toEqual([]);
  expect(unreached(tried)).toEqual([]);
});
