// Replicas that have different commits of the configuration: a newer file of an account counts everywhere, whatever is
// started, stopped or reverted, and an older one runs nowhere. Each test takes half a minute or a little more.
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Daemon, startDaemon, WITH_TOKEN } from '../support/daemon.ts';
import { startIn } from '../support/fleet.ts';
import { makeFolder } from '../support/folder.ts';
import { commitAll, git } from '../support/git.ts';
import { hasPostgres, ownPostgres, queryPostgres } from '../support/postgres.ts';
import { scene, type Scene } from '../support/scene.ts';
import { until } from '../support/workspace.ts';

const LEASE_MS = 5000;
/** Each has its own change in the newer commit; nothing changes of `same`. */
const CHANGED = ['schedule', 'mode', 'policy'] as const;
type Changed = (typeof CHANGED)[number];
const SCHEMA = 'rolecall_commits';

const OLDER: Readonly<Record<Changed, string>> = {
  schedule: 'skills: [Go]',
  mode: 'skills: [Go]',
  policy: 'skills: [Go]\npolicy: { delete: always }',
};
const NEWER: Readonly<Record<Changed, string>> = {
  schedule: 'skills: [Go]\nschedule: "*/3 * * * * *"',
  mode: 'skills: [Go]\nmode: plan',
  policy: 'skills: [Go]\npolicy: { delete: never }',
};

interface RunRow {
  readonly account: string;
  readonly mode: string;
  readonly started_at: string;
  readonly holder_pid: number;
}

interface Stage {
  readonly on: Scene;
  readonly url: string;
  /** Writes the files of the changed accounts and commits them in the repository, from which no daemon runs. */
  commit(files: Readonly<Record<Changed, string>>): string;
  /** A checkout of a commit. */
  clone(name: string, commit: string): string;
  start(folder: string): Promise<Daemon>;
  runs(): Promise<readonly RunRow[]>;
}

async function startStage(): Promise<Stage> {
  const { url } = await ownPostgres();
  const on = await scene({
    store: 'sqlite',
    others: [...CHANGED, 'same'].map((name) => ({
      name,
      token: `token-of-${name}`,
      resources: [{ id: 'someone' }],
    })),
  });
  on.serve(
    {},
    `${WITH_TOKEN}\ndaemon: { lease: ${LEASE_MS}ms }\ndefaults: { mode: apply, schedule: "* * * * * *", jitter: 0s }`,
    `{ postgres: { url: { env: ROLECALL_DATABASE_URL }, schema: ${SCHEMA} } }`,
  );
  on.configure('mode: plan\nschedule: "0 0 1 1 *"');
  on.configure('skills: [Go]', 'same');
  on.write('.gitignore', '*\n!config\n!config/**\n*.new\n');
  git(on.folder, ['init', '--quiet']);
  let commits = 0;
  return {
    on,
    url,
    commit(files) {
      for (const name of CHANGED) on.configure(files[name], name);
      commits += 1;
      return commitAll(on.folder, `Commit ${commits}`, `2026-01-0${commits}T00:00:00Z`);
    },
    clone(name, commit) {
      const folder = join(on.folder, name);
      git(on.folder, ['clone', '--quiet', '.', folder]);
      git(folder, ['reset', '--quiet', '--hard', commit]);
      return folder;
    },
    start: async (folder) =>
      await startDaemon({ start: startIn(on, folder) }, { env: { ROLECALL_DATABASE_URL: url } }),
    runs: async () =>
      (await queryPostgres(
        url,
        `select account, mode, started_at, holder_pid from ${SCHEMA}.runs order by started_at`,
      )) as readonly object[] as readonly RunRow[],
  };
}

/** The runs of changed accounts by this process from a moment on. */
async function runsOfChanged(stage: Stage, daemon: Daemon, sinceMs: number): Promise<string[]> {
  return (await stage.runs())
    .filter(({ account }) => CHANGED.some((name) => name === account))
    .filter((run) => run.holder_pid === daemon.process.pid && Date.parse(run.started_at) > sinceMs)
    .map(({ account, mode, started_at }) => `${account} in mode ${mode} at ${started_at}`);
}

/** Resolves when the daemon has run the unchanged account so many times more, and each changed account where `changed`. */
async function untilRun(daemon: Daemon, times: number, changed: readonly Changed[] = []): Promise<void> {
  const names = ['same', ...changed];
  const before = names.map((name) => daemon.runsEnded(name));
  await until(
    `process ${daemon.process.pid} has run ${names.join(', ')}`,
    () =>
      names.every(
        (name, index) => daemon.runsEnded(name) >= (before[index] ?? 0) + (index === 0 ? times : 1),
      ),
    90_000,
  );
}

/** When the newest schedule of each changed account is in the store. */
async function untilStored({ url }: Stage, schedule: string): Promise<number> {
  await until('the newer schedule is stored', async () => {
    const rows = await queryPostgres(url, `select schedule from ${SCHEMA}.turns where account = 'schedule'`);
    return rows[0]?.['schedule'] === schedule;
  });
  // A run that had begun before is not one with an older file.
  await new Promise((resolve) => setTimeout(resolve, 1500));
  return Date.now();
}

async function expectNewerOnly(stage: Stage, sinceMs: number): Promise<void> {
  const runs = (await stage.runs()).filter((run) => Date.parse(run.started_at) > sinceMs);
  const modes = new Set(runs.filter(({ account }) => account === 'mode').map(({ mode }) => mode));
  expect([...modes]).toEqual(['plan']);
  expect(stage.on.names('policy').skills).toEqual(['Go', 'Stray']);
  const [row] = await queryPostgres(
    stage.url,
    `select schedule from ${SCHEMA}.turns where account = 'schedule'`,
  );
  expect(row?.['schedule']).toBe('*/3 * * * * *');
}

describe.skipIf(!hasPostgres)('replicas with different commits', () => {
  test(
    'run no changed account with the older file, also while the newer replica is away',
    { timeout: 300_000 },
    async () => {
      const stage = await startStage();
      const first = stage.commit(OLDER);
      const folder = stage.clone('older', first);
      const older = await stage.start(folder);
      await untilRun(older, 2, CHANGED);
      const newerFolder = stage.clone('newer', stage.commit(NEWER));
      let newer = await stage.start(newerFolder);
      const sinceMs = await untilStored(stage, '*/3 * * * * *');
      stage.on.sandbox.addSkill('policy', 'Stray');
      await untilRun(newer, 1, CHANGED);
      await untilRun(older, 5);
      await newer.stop();
      await untilRun(older, 5);
      newer = await stage.start(newerFolder);
      await untilRun(newer, 1, CHANGED);
      newer.process.kill('SIGKILL');
      await newer.ended;
      await untilRun(older, 8);
      newer = await stage.start(newerFolder);
      await untilRun(newer, 1, CHANGED);
      expect(await runsOfChanged(stage, older, sinceMs)).toEqual([]);
      await expectNewerOnly(stage, sinceMs);

      // The older one receives the commit and takes part again.
      git(folder, ['pull', '--quiet', '--ff-only']);
      await newer.stop();
      await untilRun(older, 1, CHANGED);
      await expectNewerOnly(stage, sinceMs);
      await older.stop();
    },
  );

  test(
    'run no account with the file of a commit that was reverted, although the files before and after it are equal',
    { timeout: 300_000 },
    async () => {
      const stage = await startStage();
      const newestFolder = stage.clone('newest', stage.commit(NEWER));
      const newest = await stage.start(newestFolder);
      await untilRun(newest, 2, CHANGED);
      const folder = stage.clone('reverted', stage.commit(OLDER));
      stage.commit(NEWER);
      // It arrives at the revert in one step, as after two pushes and one pull, and no schedule changes.
      git(newestFolder, ['pull', '--quiet', '--ff-only']);
      const sinceMs = await untilStored(stage, '*/3 * * * * *');
      stage.on.sandbox.addSkill('policy', 'Stray');
      const older = await stage.start(folder);
      await untilRun(older, 5);
      await untilRun(newest, 1, CHANGED);
      expect(await runsOfChanged(stage, older, sinceMs)).toEqual([]);
      await newest.stop();
      await untilRun(older, 5);
      const again = await stage.start(newestFolder);
      await untilRun(again, 1, CHANGED);
      expect(await runsOfChanged(stage, older, sinceMs)).toEqual([]);
      await expectNewerOnly(stage, sinceMs);
      for (const daemon of [older, again]) await daemon.stop();
    },
  );

  test(
    'run no account with files that belong to no commit, while another replica has one',
    { timeout: 300_000 },
    async () => {
      const stage = await startStage();
      const older = stage.clone('older', stage.commit(OLDER));
      // A folder within a checkout would belong to its commit.
      const outside = makeFolder();
      cpSync(join(older, 'config'), join(outside, 'config'), { recursive: true });
      const folder = stage.clone('newer', stage.commit(NEWER));
      const newer = await stage.start(folder);
      await untilRun(newer, 2, CHANGED);
      const sinceMs = await untilStored(stage, '*/3 * * * * *');
      stage.on.sandbox.addSkill('policy', 'Stray');
      const without = await stage.start(outside);
      await until('it is a replica', () => without.events('replica_registered').length > 0);
      await untilRun(newer, 8, CHANGED);
      expect(await runsOfChanged(stage, without, sinceMs)).toEqual([]);
      await expectNewerOnly(stage, sinceMs);
      for (const daemon of [without, newer]) await daemon.stop();
    },
  );
});
