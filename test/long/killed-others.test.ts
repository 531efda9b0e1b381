// Other processes than `apply` that are killed at any moment: the daemon, an approval, a backup, and the pruning of
// runs.
import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { SQLite } from '../../src/system/sqlite.ts';
import { afterAll, expect, test } from 'vitest';
import {
  BROKEN,
  breakOff,
  judgeAfter,
  unreached,
  type Point,
  tableOf,
  type Verdict,
  failuresOf,
} from '../support/break-off.ts';
import { inspectStore } from '../support/crash-judge.ts';
import {
  ACCOUNT,
  APPLY,
  CRASH_API,
  type CrashScene,
  crashScene,
  severalAtATime,
} from '../support/crash-scene.ts';
import { EVERY_SECOND, HTTP_TOKEN, ONCE_A_YEAR, startDaemon, WITH_TOKEN } from '../support/daemon.ts';
import type { Result } from '../support/workspace.ts';
import { until, writeAccount } from '../support/workspace.ts';

const AT_A_TIME = 4;
const verdicts: Verdict[] = [];
afterAll(() => console.log(tableOf(verdicts)));

const daemonOf = (mode: string, schedule: string): string =>
  `defaults: { mode: ${mode}, schedule: ${schedule}, jitter: 0s }\n${WITH_TOKEN}`;
const DAEMON_ENV = { ROLECALL_HTTP_TOKEN: HTTP_TOKEN };

interface Setup {
  readonly service?: string;
  readonly account?: string;
}

/** Works in a separate scene, which is always closed. */
async function within<T>(setup: Setup, work: (scene: CrashScene) => Promise<T>): Promise<T> {
  const scene = await crashScene(setup);
  try {
    return await work(scene);
  } finally {
    await scene.close();
  }
}

/** A daemon that runs once, so that the rows of the broken run can be compared with all requests. */
const SERVING: Setup = { service: daemonOf('apply', ONCE_A_YEAR) };

async function daemonPoints(): Promise<Point[]> {
  return await within(SERVING, async (scene) => {
    const daemon = await startDaemon({
      start: (args, options) => scene.start(args, { ...options, trace: true }),
    });
    await until('its first run has ended', () => daemon.runsEnded('acme', 'held') > 0);
    await daemon.stop();
    const writes = scene.passed().filter(({ at }) => at === 'before-write');
    // The lock of the leader is deleted at the start, by its name alone.
    const over = writes.findIndex(({ what }) => /delete from "locks" .*"run_id"/.test(what));
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
    within(SERVING, async (scene) => {
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
      const service = daemonOf('apply', EVERY_SECOND);
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

/** A store to start each break from. */
async function prepared(
  setup: Setup,
  prepare: (scene: CrashScene) => Promise<void>,
): Promise<{
  readonly copyTo: (scene: CrashScene) => void;
  readonly close: () => Promise<void>;
}> {
  const scene = await crashScene(setup);
  await prepare(scene);
  const clean = `${scene.store}.clean`;
  const database = new SQLite(scene.store);
  database.exec(`vacuum into '${clean}'`);
  database.close();
  return {
    copyTo({ store }) {
      mkdirSync(dirname(store), { recursive: true });
      copyFileSync(clean, store);
    },
    close: () => scene.close(),
  };
}

/** The points before and after each write of a command on a prepared store. */
async function writesOf(
  setup: Setup,
  copyTo: (scene: CrashScene) => void,
  args: (scene: CrashScene) => readonly string[],
  row: string,
): Promise<Point[]> {
  return await within(setup, async (scene) => {
    copyTo(scene);
    const { status } = await scene.start(args(scene), { trace: true }).ended;
    expect([0, 3]).toContain(status);
    return scene
      .passed()
      .filter(({ at }) => at === 'before-write' || at === 'after-write')
      .map(({ at, what }, index, all) => ({
        at,
        nth: all.slice(0, index + 1).filter((each) => each.at === at).length,
        what,
        row,
      }));
  });
}

/**
 * Kills a command at each of its points; `check` returns what is wrong after the kill and after the command is
 * repeated.
 */
async function killCommand(
  setup: Setup,
  points: readonly Point[],
  copyTo: (scene: CrashScene) => void,
  args: (scene: CrashScene) => readonly string[],
  check: (scene: CrashScene, again: Result | null) => readonly string[],
): Promise<void> {
  const tried = await severalAtATime(points, AT_A_TIME, (point) =>
    within(setup, async (scene): Promise<Verdict> => {
      copyTo(scene);
      scene.gate.phase = BROKEN;
      const reached = await breakOff(scene, point, (strike) =>
        scene.start(args(scene), strike === undefined ? {} : { strike }),
      );
      const { integrity } = inspectStore(scene.store);
      const first = check(scene, null);
      const again = await scene.workspace.run(args(scene));
      const breaches = [
        ...(integrity === 'ok' ? [] : [`the store is damaged: ${integrity}`]),
        ...first,
        ...check(scene, again),
      ];
      return { point, outcome: reached ? 'continued with the rest' : 'not reached', runs: 1, breaches };
    }),
  );
  verdicts.push(...tried);
  expect(failuresOf(tried)).toEqual([]);
  expect(tried.filter(({ outcome }) => outcome === 'not reached')).toEqual([]);
}

test(
  'a killed approve command stores the complete approval or none, and can be repeated',
  { timeout: 300_000 },
  async () => {
    const setup = { service: daemonOf('approve', ONCE_A_YEAR) };
    const store = await prepared(setup, async (scene) => {
      const daemon = await startDaemon(scene.workspace);
      await until('a plan waits', () => daemon.runsEnded('acme', 'planned') > 0);
      await daemon.stop();
    });
    const args = (): readonly string[] => ['approve', 'acme'];
    const points = await writesOf(setup, store.copyTo, args, 'approve');
    expect(points.length).toBeGreaterThan(5);
    await killCommand(setup, points, store.copyTo, args, ({ workspace }, again) => {
      const [row] = workspace.rows<{
        pending_digest: string;
        approved_digest: string | null;
        approved_at: string | null;
      }>('select pending_digest, approved_digest, approved_at from accounts');
      const isGiven = row?.approved_digest === row?.pending_digest && row?.approved_at !== null;
      const isNot = row?.approved_digest === null && row.approved_at === null;
      if (again === null) return isGiven || isNot ? [] : [`half an approval: ${JSON.stringify(row)}`];
      return isGiven && again.status === 0 ? [] : [`repeated, it ended with ${again.status} ${again.stderr}`];
    });
    await store.close();
  },
);

test(
  'a killed backup leaves a complete file or none, and can be repeated',
  { timeout: 300_000 },
  async () => {
    const setup = {};
    const store = await prepared(setup, async ({ workspace }) => {
      expect((await workspace.run(APPLY)).status).toBe(3);
    });
    const target = ({ workspace }: CrashScene): string => join(workspace.folder, 'copy.db');
    const args = (scene: CrashScene): readonly string[] => ['backup', target(scene)];
    const points = await writesOf(setup, store.copyTo, args, 'backup');
    expect(points.length).toBeGreaterThan(3);
    await killCommand(setup, points, store.copyTo, args, (scene, again) => {
      const file = target(scene);
      const ended =
        again === null || again.status === 0
          ? []
          : [`repeated, it ended with ${again.status} ${again.stderr}`];
      if (!existsSync(file)) return again === null ? [] : [...ended, 'there is no copy'];
      const copy = inspectStore(file);
      return [
        ...ended,
        ...(copy.integrity === 'ok' && copy.runs.length === 1 ? [] : [`the copy is ${copy.integrity}`]),
      ];
    });
    await store.close();
  },
);

test(
  'killed pruning leaves no dangling rows, and the next run completes it',
  { timeout: 300_000 },
  async () => {
    // An account that manages nothing writes the same in every run.
    const setup = { account: '', service: 'retention: { runs: 2d, snapshots: 2d }' };
    const store = await prepared(setup, async ({ workspace }) => {
      for (let run = 0; run < 3; run += 1) expect((await workspace.run(APPLY)).status).toBe(0);
      const old = new Date(Date.now() - 10 * 86_400_000).toISOString();
      for (const column of ['started_at', 'finished_at'])
        workspace.execute(`update runs set ${column} = ? where id < (select max(id) from runs)`, old);
      workspace.execute('update snapshots set taken_at = ? where run_id < (select max(id) from runs)', old);
    });
    const args = (): readonly string[] => APPLY;
    const all = await writesOf(setup, store.copyTo, args, 'prune');
    const released = all.findIndex(
      ({ at, what }) => at === 'after-write' && /delete from "locks"/.test(what),
    );
    const points = all.slice(released);
    expect(points.length).toBeGreaterThan(10);
    await killCommand(setup, points, store.copyTo, args, (scene, again) => {
      const yesterday = new Date(Date.now() - 86_400_000).toISOString();
      const left = scene.workspace.rows('select id from runs where started_at < ?', yesterday);
      const dangling = scene.workspace.rows(
        'select * from snapshots where run_id not in (select id from runs)',
      );
      return [
        ...(dangling.length === 0 ? [] : ['snapshots of deleted runs']),
        ...(again === null || left.length === 0 ? [] : [`${left.length} old runs remain`]),
        ...(again === null || again.status === 0
          ? []
          : [`the next run ended with ${again.status} ${again.stderr}`]),
      ];
    });
    await store.close();
  },
);
