// The daemon's own checkout of its configuration, from a repository on this machine.
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { type Daemon, EVERY_SECOND, HTTP_TOKEN, startDaemon, WITH_TOKEN } from '../support/daemon.ts';
import { commitAll, git } from '../support/git.ts';
import { makeWorkspace, QUICK_API, until, type Workspace } from '../support/workspace.ts';
import { costly } from '../support/thorough.ts';

interface Stage {
  readonly sandbox: Sandbox;
  readonly workspace: Workspace;
  /** The repository that everybody pushes to. */
  readonly origin: string;
  /** Writes files in somebody's clone, commits and pushes them; returns the commit. */
  push(subject: string, files: Files, date: string): string;
  /** Runs git in that clone. */
  inClone(...args: string[]): string;
  serve(): Promise<Daemon>;
  skills(account?: 'acme' | 'beta'): string[];
}

type Files = Readonly<Record<string, string>>;

interface RunRow {
  readonly account: string;
  readonly status: string;
  readonly config_commit: string | null;
  readonly config_dirty: number | null;
  readonly config_authored_at: string | null;
  readonly config_subject: string | null;
  readonly created: number;
  readonly deleted: number;
}

const REFUSED = 'rolecall_source_refused';

async function stage(interval = '1s'): Promise<Stage> {
  const sandbox = await startSandbox({
    seed: {
      accounts: [
        { name: 'acme', token: 'token-of-acme', resources: [{ id: 'someone' }] },
        { name: 'beta', token: 'token-of-beta', resources: [{ id: 'someone' }] },
      ],
    },
  });
  onTestFinished(() => sandbox.close());
  const workspace = makeWorkspace('token-of-acme');
  const origin = join(workspace.folder, 'origin.git');
  const clone = join(workspace.folder, 'clone');
  git(workspace.folder, ['init', '-q', '--bare', origin]);
  git(workspace.folder, ['clone', '-q', origin, clone]);
  // The file of the machine sets the store, the HTTP interface and the source of everything else.
  workspace.write(
    'config/rolecall.yaml',
    [
      'store: ../data/rolecall.db',
      // The repository must not decide where tokens are sent.
      `trust: { origins: ["${sandbox.url}"] }`,
      WITH_TOKEN,
      `api: ${QUICK_API}`,
      `source: { git: { url: "file://${origin}", branch: main, path: config, interval: ${interval} } }`,
      '',
    ].join('\n'),
  );
  return {
    sandbox,
    workspace,
    origin,
    push(subject, files, date) {
      for (const [name, text] of Object.entries(files)) {
        mkdirSync(dirname(join(clone, name)), { recursive: true });
        writeFileSync(join(clone, name), text);
      }
      const sha = commitAll(clone, subject, date);
      git(clone, ['push', '-q', 'origin', 'HEAD:main']);
      return sha;
    },
    inClone: (...args) => git(clone, args),
    serve: () => startDaemon(workspace, { env: { BETA_TOKEN: 'token-of-beta' } }),
    skills: (account = 'acme') =>
      sandbox
        .state(account)
        .skills.map(({ name }) => name)
        .toSorted(),
  };
}

/** The settings that the accounts share are in the repository, too. */
function serviceFile(sandbox: Sandbox): string {
  return [
    'accounts: accounts/*.yaml',
    `regions: { us: "${sandbox.url}" }`,
    `defaults: { mode: apply, schedule: ${EVERY_SECOND} }`,
    '',
  ].join('\n');
}

function account(name: 'acme' | 'beta', lines: string): Files {
  return {
    [`config/accounts/${name}.yaml`]: `region: us\ntoken: { env: ${name.toUpperCase()}_TOKEN }\n${lines}\n`,
  };
}

function newestRun({ workspace }: Stage, name: 'acme' | 'beta' = 'acme'): RunRow | undefined {
  return workspace.rows<RunRow>(
    `select * from runs where account = ? and status != 'running' order by id desc limit 1`,
    name,
  )[0];
}

/** Waits until a run that ended well was made from the commit. */
async function appliedFrom(on: Stage, sha: string): Promise<void> {
  await until(`a run was made from ${sha}`, () => {
    const run = newestRun(on);
    return run?.config_commit === sha && ['converged', 'held'].includes(run.status);
  });
}

async function sourceOf(daemon: Daemon): Promise<{ issues: string; commit: string | null; refused: number }> {
  const { body } = await daemon.api<{ issues: readonly string[]; commit: { sha: string } | null }>('status');
  const samples = await daemon.metrics();
  return {
    issues: body.issues.join('\n'),
    commit: body.commit?.sha ?? null,
    refused: samples.get(REFUSED) ?? Number.NaN,
  };
}

test('the daemon waits for a repository that is empty at first, applies every push, and reports its commit, as apply does after it', async () => {
  const on = await stage();
  const { sandbox, workspace } = on;
  const daemon = await on.serve();
  await until('it reports that the repository is empty', async () => (await sourceOf(daemon)).issues !== '');
  expect((await sourceOf(daemon)).issues).toMatch(/couldn't find remote ref refs\/heads\/main/);
  expect((await daemon.get('/healthz')).status).toBe(200);
  expect((await daemon.get('/readyz')).status).toBe(503);
  const page = await fetch(daemon.url, { headers: { authorization: `Bearer ${HTTP_TOKEN}` } });
  expect(await page.text()).toContain('the daemon has not fetched the repository of `source.git` yet');

  const first = on.push(
    'First catalog',
    {
      'config/rolecall.yaml': serviceFile(sandbox),
      ...account('acme', 'skills: [Go]'),
      ...account('beta', 'extends: [../catalogs/shop.yaml]'),
      'config/catalogs/shop.yaml': 'skills: [Lathe]\n',
    },
    '2026-03-01T12:00:00+02:00',
  );
  await appliedFrom(on, first);
  await until('beta has converged', () => daemon.runsEnded('beta', 'converged') > 0);
  expect([on.skills('acme'), on.skills('beta')]).toEqual([['Go'], ['Lathe']]);
  expect(await sourceOf(daemon)).toEqual({ issues: '', commit: first, refused: 0 });
  expect((await daemon.get('/readyz')).status).toBe(200);
  const facts = { config_commit: first, config_dirty: 0, config_subject: 'First catalog' };
  expect(newestRun(on)).toMatchObject({ ...facts, config_authored_at: '2026-03-01T10:00:00.000Z' });
  expect(newestRun(on, 'beta')).toMatchObject(facts);

  const second = on.push(
    'Shared skill',
    { 'config/catalogs/shop.yaml': 'skills: [Drill, Lathe]\n' },
    '2026-03-03T00:00:00Z',
  );
  await appliedFrom(on, second);
  await until('the shared file is applied, too', () => on.skills('beta').join() === 'Drill,Lathe');
  // The author's date is reported, even if the committer's date is different.
  on.inClone(
    'commit',
    '-q',
    '--allow-empty',
    '--date',
    '2026-03-04T23:30:00-01:00',
    '-m',
    'Re-dated\n\nIts body',
  );
  on.inClone('push', '-q', 'origin', 'HEAD:main');
  const third = on.inClone('rev-parse', 'HEAD');
  await appliedFrom(on, third);
  expect(newestRun(on)).toMatchObject({
    config_subject: 'Re-dated',
    config_authored_at: '2026-03-05T00:30:00.000Z',
    config_dirty: 0,
  });
  const { body } = await daemon.api<{ commit: object }>('status');
  expect(body.commit).toMatchObject({ sha: third, dirty: false, subject: 'Re-dated' });
  expect(workspace.rows('select * from runs where config_dirty != 0')).toEqual([]);
  await expect.poll(() => daemon.events('source_failed')).toHaveLength(1);
  await daemon.stop();

  // The command reads the account's file of the checkout, also right before its deletes.
  sandbox.addSkill('acme', 'Old');
  const { status, stdout } = await workspace.run(['apply', 'acme', '--yes']);
  expect([status, on.skills()], stdout).toEqual([0, ['Go']]);
});

costly('a request over HTTP fetches at once what the interval would fetch much later', async () => {
  const on = await stage('1h');
  const files = {
    'config/rolecall.yaml': serviceFile(on.sandbox),
    ...account('acme', 'skills: [Go]'),
  };
  const first = on.push('First', files, '2026-03-01T00:00:00Z');
  const daemon = await on.serve();
  await appliedFrom(on, first);
  const second = on.push('Second', account('acme', 'skills: [Go, Nim]'), '2026-03-02T00:00:00Z');
  const requests = Array.from({ length: 20 }, () => daemon.api('source/fetch', {}));
  expect(new Set((await Promise.all(requests)).map(({ status }) => status))).toEqual(new Set([202]));
  await appliedFrom(on, second);
  expect(on.skills()).toEqual(['Go', 'Nim']);
  await expect.poll(() => daemon.events('source_updated')).toHaveLength(2);
  await daemon.stop();
});

costly(
  'a forced push is refused and logged, the last commit stays in use, and the guard against old sources still works',
  async () => {
    const on = await stage();
    const { sandbox, workspace } = on;
    const first = on.push(
      'First',
      { 'config/rolecall.yaml': serviceFile(sandbox), ...account('acme', 'skills: [Go]') },
      '2026-03-01T00:00:00Z',
    );
    const second = on.push('Second', account('acme', 'skills: [Go, Nim]'), '2026-03-02T00:00:00Z');
    const daemon = await on.serve();
    await appliedFrom(on, second);
    sandbox.clearRequests();

    on.inClone('push', '-q', '--force', 'origin', `${first}:main`);
    await until('it is refused', async () => (await sourceOf(daemon)).refused === 1);
    await until('the log reports it', () => daemon.events('source_failed').length > 0);
    await expect
      .poll(() => daemon.events('source_failed'))
      .toMatchObject([{ level: 50, reason: expect.stringContaining(first) }]);
    const refused = await sourceOf(daemon);
    expect(refused).toMatchObject({ commit: second });
    expect(refused.issues).toMatch(new RegExp(`${first}.*${second}.*stays`));
    const before = daemon.runsEnded('acme', 'converged');
    await until('runs continue', () => daemon.runsEnded('acme', 'converged') > before + 1);
    expect(newestRun(on)).toMatchObject({ status: 'converged', config_commit: second });
    await expect.poll(() => daemon.events('source_failed')).toHaveLength(1);

    // An operator who wants the old commit moves the checkout away. The store still has the newer commit of the account.
    renameSync(join(workspace.folder, 'data/checkout'), join(workspace.folder, 'data/removed'));
    await appliedFrom(on, first);
    expect(await sourceOf(daemon)).toEqual({ issues: '', commit: first, refused: 0 });
    expect(newestRun(on)).toMatchObject({ status: 'held', deleted: 0 });
    const held = 'rolecall_held{account="acme",kind="skill",rule="source"}';
    await until('the metric shows it', async () => (await daemon.metrics()).get(held) === 1);
    expect(on.skills()).toEqual(['Go', 'Nim']);
    expect(sandbox.requests().filter(({ method }) => method !== 'GET')).toEqual([]);

    // Creates are held too.
    for (const { id, name } of sandbox.state('acme').skills)
      if (name === 'Go') sandbox.removeEntry('acme', id);
    const creates = 'rolecall_drift{account="acme",kind="skill",action="create"}';
    await until('the missing entry is noticed', async () => (await daemon.metrics()).get(held) === 2);
    expect((await daemon.metrics()).get(creates) ?? 0).toBe(0);
    expect(on.skills()).toEqual(['Nim']);

    // A commit after that one is not an old source.
    on.inClone('reset', '-q', '--hard', first);
    const third = on.push('Third', account('acme', 'skills: [Rust]'), '2026-03-03T00:00:00Z');
    await appliedFrom(on, third);
    expect(on.skills()).toEqual(['Rust']);
    await daemon.stop();
  },
);

costly(
  'a restart without the repository uses the last commit, and applies a push when the repository is back',
  async () => {
    const on = await stage();
    const { sandbox, origin } = on;
    const first = on.push(
      'First',
      { 'config/rolecall.yaml': serviceFile(sandbox), ...account('acme', 'skills: [Go]') },
      '2026-03-01T00:00:00Z',
    );
    let daemon = await on.serve();
    await appliedFrom(on, first);
    await daemon.stop();

    renameSync(origin, `${origin}.gone`);
    expect(existsSync(origin)).toBe(false);
    sandbox.removeEntry('acme', sandbox.state('acme').skills[0]?.id ?? '');
    daemon = await on.serve();
    await until('the drift is repaired', () => on.skills().join() === 'Go');
    await appliedFrom(on, first);
    const without = await sourceOf(daemon);
    expect(without).toMatchObject({ commit: first, refused: 0 });
    expect(without.issues).toMatch(/git failed: .*does not (?:appear to be a git repository|exist)/);
    await expect.poll(() => daemon.events('source_failed')).toHaveLength(1);
    expect((await daemon.get('/readyz')).status).toBe(200);

    renameSync(`${origin}.gone`, origin);
    const second = on.push('Second', account('acme', 'skills: [Go, Nim]'), '2026-03-02T00:00:00Z');
    await appliedFrom(on, second);
    expect(on.skills()).toEqual(['Go', 'Nim']);
    expect(await sourceOf(daemon)).toEqual({ issues: '', commit: second, refused: 0 });
    await expect.poll(() => daemon.events('source_fixed')).toHaveLength(1);
    await daemon.stop();
  },
);

const BROKEN_AT_START = [
  ['a syntax error', 'accounts: [\n'],
  ['an unknown key', 'acounts: accounts/*.yaml\n'],
  ['an invalid value', 'accounts: accounts/*.yaml\napi: { retries: many }\n'],
] as const;

costly.each(BROKEN_AT_START)(
  'with %s in the rolecall.yaml of its repository at the first start, the daemon is not ready until the next valid commit',
  async (_, broken) => {
    const on = await stage();
    const { sandbox } = on;
    on.push(
      'Broken from the beginning',
      { 'config/rolecall.yaml': broken, ...account('acme', 'skills: [Go]') },
      '2026-03-01T00:00:00Z',
    );
    const daemon = await on.serve();
    const ready = await daemon.get('/readyz');
    expect(ready.status).toBe(503);
    expect(ready.text).toMatch(/^the configuration is not loaded.*`config_invalid`/);
    await expect
      .poll(() => daemon.events('config_invalid'))
      .toMatchObject([
        { level: 50, errors: expect.arrayContaining([expect.stringMatching(/rolecall\.yaml:\d+:\d+: /)]) },
      ]);
    expect((await daemon.metrics()).get('rolecall_configuration_valid')).toBe(0);
    expect((await sourceOf(daemon)).issues).toContain('rolecall.yaml');

    const good = on.push('Mend', { 'config/rolecall.yaml': serviceFile(sandbox) }, '2026-03-02T00:00:00Z');
    await appliedFrom(on, good);
    expect(await daemon.get('/readyz')).toEqual({ status: 200, text: 'ok\n' });
    expect((await daemon.metrics()).get('rolecall_configuration_valid')).toBe(1);
    expect(on.skills()).toEqual(['Go']);
    await daemon.stop();
  },
);
