// A newer commit reaches one account first, and the others when that one has converged on it.
import { expect, onTestFinished, test } from 'vitest';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { type Daemon, EVERY_SECOND, startDaemon, WITH_TOKEN } from '../support/daemon.ts';
import { commitAll, git } from '../support/git.ts';
import { NOTIFY, startReceiver } from '../support/receiver.ts';
import { makeWorkspace, QUICK_API, until } from '../support/workspace.ts';
import { costly } from '../support/thorough.ts';

const NAMES = ['canary', 'middle', 'last'] as const;
type Name = (typeof NAMES)[number];

/** `last` runs a commit after `middle`, which runs it after `canary`; all three extend one catalog. */
async function stage({ wait = '0s', inGit = true, notify = '' } = {}) {
  const accounts = NAMES.map((name) => ({
    name,
    token: `token-of-${name}`,
    resources: [{ id: `of-${name}` }],
  }));
  const sandbox = await startSandbox({ seed: { accounts } });
  onTestFinished(() => sandbox.close());
  const workspace = makeWorkspace('unused');
  workspace.write(
    'config/rolecall.yaml',
    [
      'store: ../data/rolecall.db',
      WITH_TOKEN,
      `api: ${QUICK_API}`,
      `defaults: { mode: apply, schedule: ${EVERY_SECOND}, rollout: { after: [canary], wait: ${wait} } }`,
      `regions: { eu: "${sandbox.url}" }`,
      notify,
      '',
    ].join('\n'),
  );
  const account = (name: Name, more = '') =>
    workspace.write(
      `config/accounts/${name}.yaml`,
      `region: eu\ntoken: { env: TOKEN_OF_${name.toUpperCase()} }\n${more}extends: [../catalogs/all.yaml]\n`,
    );
  for (const name of NAMES)
    account(name, name === 'last' ? `rollout: { after: [middle], wait: ${wait} }\n` : '');
  const catalog = (...skills: string[]) =>
    workspace.write('config/catalogs/all.yaml', `skills: [${skills.join(', ')}]\n`);
  const env = Object.fromEntries(NAMES.map((name) => [`TOKEN_OF_${name.toUpperCase()}`, `token-of-${name}`]));
  // git cannot add a store that a daemon writes.
  workspace.write('.gitignore', 'data/\n');
  if (inGit) git(workspace.folder, ['init', '-q']);
  return {
    sandbox,
    workspace,
    env,
    account,
    catalog,
    commit: (subject: string) => commitAll(workspace.folder, subject),
    skills: (name: Name) =>
      sandbox
        .state(name)
        .skills.map((skill) => skill.name)
        .toSorted()
        .join(' '),
    serve: (more = {}) => startDaemon(workspace, { env: { ...env, ...more } }),
    lastRun: (name: Name) =>
      workspace.rows<{
        id: string;
        status: string;
        config_commit: string;
        config_dirty: number;
        held: number;
      }>(
        "select * from runs where account = ? and status <> 'running' order by started_at desc limit 1",
        name,
      )[0],
  };
}

/** Resolves when each account has ended so many more runs. */
async function runsOf(daemon: Daemon, more: number): Promise<void> {
  const before = new Map(NAMES.map((name) => [name, daemon.runsEnded(name)]));
  await until('every account ran', () =>
    NAMES.every((name) => daemon.runsEnded(name) >= (before.get(name) ?? 0) + more),
  );
}

test('a commit reaches the accounts one after the other, and never those behind one that fails', async () => {
  const receiver = await startReceiver();
  const on = await stage({ notify: NOTIFY });
  on.catalog('Go');
  const first = on.commit('Start with Go');
  const creates = () =>
    on.workspace.rows<{ account: string; config_commit: string }>(
      'select account, config_commit from runs where created > 0 order by started_at',
    );
  const daemon = await on.serve(receiver.env);
  await until('all have converged on the first commit', () => creates().length === 3);
  expect(creates().map(({ account }) => account)).toEqual(['canary', 'middle', 'last']);
  expect(creates().every(({ config_commit: commit }) => commit === first)).toBe(true);

  on.sandbox.setFaults([
    { match: { account: 'canary', method: 'POST' }, times: 'always', do: { type: 'status', status: 400 } },
  ]);
  on.catalog('Go', 'Rust');
  const second = on.commit('Add Rust');
  await until('the canary failed on it', () => {
    const run = on.lastRun('canary');
    return run?.config_commit === second && run.status === 'partial';
  });
  await until('the others ran on it', () =>
    (['middle', 'last'] as const).every((name) => on.lastRun(name)?.config_commit === second),
  );
  await runsOf(daemon, 2);
  expect([on.skills('middle'), on.skills('last')]).toEqual(['Go', 'Go']);
  expect(on.lastRun('middle')).toMatchObject({ status: 'held', held: 1 });
  const shown = await on.workspace.run(['show', on.lastRun('middle')?.id ?? '']);
  expect(shown.stdout).toMatch(
    new RegExp(`other accounts run the commit ${second.slice(0, 7)} first: canary`),
  );
  // A person may apply it by hand: the rollout binds the daemon.
  expect((await on.workspace.run(['plan', 'last'], { env: on.env })).stdout).toMatch(/1 to create/);
  const failures = receiver.notices().filter(({ type }) => type === 'failed');
  expect(failures.map(({ data }) => [data.account, data.followers])).toEqual([['canary', 1]]);
  expect(receiver.notices().filter(({ type }) => type === 'held')).toEqual([]);

  on.sandbox.setFaults([]);
  await until('all have it', () => NAMES.every((name) => on.skills(name) === 'Go Rust'));
  await daemon.stop();
});

costly(
  'what is saved and not committed is held, for the accounts whose files it changes, until it is undone or committed',
  async () => {
    const on = await stage();
    on.catalog('Go');
    on.commit('Start');
    const daemon = await on.serve();
    await until('all have it', () => NAMES.every((name) => on.skills(name) === 'Go'));
    const edit = () => {
      const text = 'region: eu\ntoken: { env: TOKEN_OF_CANARY }\nskills: [Zig]\n';
      on.workspace.write('config/accounts/canary.yaml', text);
    };
    await daemon.edit(edit);
    await until('its changes are held', () => on.lastRun('canary')?.held === 2);
    await runsOf(daemon, 2);
    expect(NAMES.map((name) => [on.skills(name), on.lastRun(name)?.config_dirty])).toEqual([
      ['Go', 1],
      ['Go', 0],
      ['Go', 0],
    ]);
    const { stdout } = await on.workspace.run(['show', on.lastRun('canary')?.id ?? '']);
    expect(stdout).toContain('these files as they are now: config/accounts/canary.yaml');
    const [, advised = ''] = /`git (checkout HEAD -- [^`]+)`/.exec(stdout.replace(/\s+/g, ' ')) ?? [];
    git(on.workspace.folder, advised.split(' '));
    await until('nothing is held', () => on.lastRun('canary')?.status === 'converged');
    await daemon.edit(edit);
    await until('it is held again', () => on.lastRun('canary')?.held === 2);
    on.commit('Change the canary');
    await until('it is applied', () => on.skills('canary') === 'Zig');
    await daemon.stop();
  },
);

costly(
  'a commit waits for as long as the rollout says, and holds nothing of the account that it does not change',
  async () => {
    const on = await stage({ wait: '3s' });
    on.catalog('Go');
    on.account('last', 'skills: [Own]\n');
    on.commit('Start');
    const daemon = await on.serve();
    await until('all follow the canary', () => NAMES.every((name) => on.skills(name).includes('Go')));
    const ended = (name: Name) =>
      on.workspace.rows<{ ended: string }>(
        'select min(finished_at) as ended from runs where account = ? and created > 0',
        name,
      )[0]?.ended ?? '';
    const gapMs = () => Date.parse(ended('middle')) - Date.parse(ended('canary'));
    await until('the run of the middle one has ended', () => !Number.isNaN(gapMs()));
    expect(gapMs()).toBeGreaterThanOrEqual(3000);

    // The commit changes the canary alone; what somebody deleted elsewhere is restored at once.
    on.sandbox.setFaults([
      { match: { account: 'canary', method: 'POST' }, times: 'always', do: { type: 'status', status: 400 } },
    ]);
    on.account('canary', 'skills: [Fails]\n');
    const second = on.commit('Change the canary');
    await until('the others ran on it', () => on.lastRun('middle')?.config_commit === second);
    const [skill] = on.sandbox.state('middle').skills;
    on.sandbox.removeEntry('middle', skill?.id ?? '');
    await until('it is created again', () => on.skills('middle') === 'Go');
    await daemon.stop();
  },
);

test('a plan says that a rollout has no effect without git', async () => {
  const on = await stage({ inGit: false });
  on.catalog('Go');
  const planned = await on.workspace.run(['plan', 'middle'], { env: on.env });
  expect(planned.stdout).toContain('`rollout` has no effect, because the configuration is not in git');
  expect(planned.stdout).toContain('1 to create');
});
