// The commands of an operator on many accounts: what waits for one commit is shown once, and approved by one command.
import { expect, test } from 'vitest';
import { type Daemon, ONCE_A_YEAR, startDaemon, WITH_TOKEN } from '../support/daemon.ts';
import { commitAll, git } from '../support/git.ts';
import { type Scene, scene, tokenVariable } from '../support/scene.ts';
import { hasTerminal, onTerminal } from '../support/terminal.ts';
import { costly } from '../support/thorough.ts';

const NAMES = ['acme', 'eu-1', 'eu-2', 'eu-3'];

interface AccountsJson {
  readonly accounts: readonly {
    readonly name: string;
    readonly paused: boolean;
    readonly pending: object | null;
  }[];
}

/** Four accounts in mode `approve`, whose plans of the first commit wait; `eu-3` waits for a plan of the second one. */
async function fleet(): Promise<{ s: Scene; daemon: Daemon; first: string; second: string }> {
  const others = NAMES.slice(1).map((name, index) => ({
    name,
    id: `5${index}`,
    token: `token-of-${name}`,
    skills: ['Go'],
    resources: [{ id: 'someone' }],
  }));
  const defaults = `defaults: { mode: approve, schedule: ${ONCE_A_YEAR} }`;
  const s = await scene({ skills: ['Go'], others, service: [defaults, WITH_TOKEN].join('\n') });
  for (const name of NAMES) s.configure('skills: [Go, Zig]', name);
  s.write('.gitignore', 'data/\n*.log\n');
  git(s.folder, ['init', '-q']);
  const first = commitAll(s.folder, 'Add Zig');
  const daemon = await startDaemon(s);
  const waiting = async () => (await daemon.api<AccountsJson>('accounts')).body.accounts;
  await s.until('four plans wait', async () => (await waiting()).every(({ pending }) => pending !== null));
  let second = '';
  await daemon.edit(() => {
    s.configure('skills: [Go, Zig, Ada]', 'eu-3');
    second = commitAll(s.folder, 'Add Ada', '2026-01-02T00:00:00Z');
  });
  expect((await s.run(['sync', 'eu-3'])).stdout).toMatch(/^requested a run of eu-3/);
  await s.until('it has run', () => daemon.runsEnded('eu-3', 'planned') > 1);
  return { s, daemon, first, second };
}

test('pause, resume, history and approve take names, globs and exclusions, and approve shows equal plans of a commit once', async () => {
  const { s, daemon, first, second } = await fleet();
  const runs = await s.run(['history', 'eu-*', '!eu-2', '--format', 'json']);
  const accounts = (JSON.parse(runs.stdout) as { account: string }[]).map(({ account }) => account);
  expect(new Set(accounts)).toEqual(new Set(['eu-1', 'eu-3']));

  if (hasTerminal) await refusedOnTerminal(s, first);

  const refused = await s.run(['approve', '*', '--commit', first.slice(0, 8)]);
  expect(refused.status).toBe(64);
  expect(refused.stdout).toMatch(/^3 accounts, each: 1 to create.*\n +acme, eu-1, eu-2\n/m);
  expect(refused.stdout.match(/Zig/g)).toHaveLength(1);
  expect(refused.stdout).not.toContain('Ada');
  expect(refused.stderr).toMatch(/other commits wait too, and are not approved: eu-3\n.*use --yes/s);
  for (const args of [['*'], ['acme', 'eu-1'], ['eu-?']])
    expect([args, (await s.run(['approve', ...args])).status]).toEqual([args, 64]);
  for (const args of [[], ['--commit', 'zebra'], ['*', 'ab12cd34', '--yes']])
    expect([args, (await s.run(['approve', ...args])).status]).toEqual([args, 64]);
  expect((await s.run(['approve', '*', '--commit', 'abcdef0', '--yes'])).status).toBe(1);
  expect(s.rows('select * from accounts where approved_digest is not null')).toEqual([]);

  // The plan of acme stays the same on a later commit, which is then its commit everywhere.
  git(s.folder, ['commit', '-q', '--allow-empty', '-m', 'Change nothing']);
  const third = git(s.folder, ['rev-parse', 'HEAD']);
  const used = async () => (await daemon.api<{ commit: { sha: string } }>('status')).body.commit.sha;
  await s.until('the daemon has noticed it', async () => (await used()) === third);
  await s.run(['sync', 'acme']);
  const ended = "select 1 from runs where account = 'acme' and status = 'planned' and config_commit = ?";
  await s.until('it has run on that commit', () => s.rows(ended, third).length > 0);
  const alone = await s.run(['approve', 'acme']);
  expect([alone.status, alone.stderr]).toEqual([64, expect.stringMatching(/--yes, or .* digest/)]);
  expect(alone.stdout).toMatch(new RegExp(`Commit +${third.slice(0, 12)}`));
  expect((await s.run(['approve', 'acme', '--commit', third])).stdout).toBe(alone.stdout);
  expect((await s.run(['approve', 'acme', '--commit', first, '--yes'])).status).toBe(1);
  expect(s.rows('select * from accounts where approved_digest is not null')).toEqual([]);

  await s.run(['pause', 'eu-2']);
  const done = await s.run(['approve', '--commit', first, '!acme', '--yes']);
  expect(done.status).toBe(0);
  expect(done.stdout).toMatch(/approved 2 plans, .*: eu-1, eu-2\npaused, .*: eu-2\n$/);
  await s.until('eu-1 is applied', () => daemon.runsEnded('eu-1', 'converged') === 1);
  const last = ['approve', 'eu-*', '--commit', second];
  const again = hasTerminal
    ? await onTerminal(s.folder, last, { env: tokensOf(s), answer: 'yes' })
    : await s.run([...last, '--yes']);
  const printed = 'output' in again ? again.output : again.stdout;
  expect([again.status, printed]).toEqual([0, expect.stringMatching(/approved 1 plan, .*: eu-3\r?\n/)]);
  await s.until('eu-3 is applied', () => daemon.runsEnded('eu-3', 'converged') === 1);
  expect(s.writes().toSorted()).toEqual(['POST Ada', 'POST Zig', 'POST Zig']);
  // An approval that waits for the end of a pause is not given again.
  expect((await s.run(['approve', 'eu-*', '--yes'])).status).toBe(1);
  await s.run(['resume', 'eu-2']);
  await s.until('eu-2 is applied', () => daemon.runsEnded('eu-2', 'converged') === 1);
  expect(s.writes()).toHaveLength(4);
  const paused = async () =>
    (await daemon.api<AccountsJson>('accounts')).body.accounts.flatMap((each) =>
      each.paused ? [each.name] : [],
    );
  const { stdout } = await s.run(['pause', '*', '!eu-2', '--reason', 'move']);
  expect(stdout.match(/^paused/gm)).toHaveLength(3);
  expect(await paused()).toEqual(['acme', 'eu-1', 'eu-3']);
  const resumed = await s.run(['resume', 'acme', 'eu-*']);
  const answers = resumed.stdout.split('\n').map((line) => line.split(' ')[0]);
  expect(answers).toEqual(['resumed', 'resumed', 'eu-2', 'resumed', '']);
  expect(await paused()).toEqual([]);
});

const tokensOf = (s: Scene): Record<string, string> =>
  Object.fromEntries(s.sandbox.accounts.map(({ name, token }) => [tokenVariable(name), token]));

/** On a terminal, `approve` asks once, whatever the number of plans is. */
async function refusedOnTerminal(s: Scene, commit: string): Promise<void> {
  const env = tokensOf(s);
  const asked = await onTerminal(s.folder, ['approve', 'acme', 'eu-*'], { env, answer: 'no' });
  expect([asked.status, asked.output]).toEqual([2, expect.stringContaining('Nothing was approved.')]);
  expect(asked.output).toContain('Approve 4 plans: 5 to create, 0 to delete, 0 held?');
  const one = await onTerminal(s.folder, ['approve', 'acme'], { env, answer: 'no' });
  expect([one.status, one.output]).toEqual([2, expect.stringContaining('To create (')]);
  expect(one.output).toContain(`Approve 1 plan of commit ${commit.slice(0, 12)}: 1 to create`);
}

costly('plan and apply of many accounts keep hostConcurrency and requestsPerSecond exactly', async () => {
  const limits = { hostConcurrency: 6, requestsPerSecond: 4, concurrency: 2, settle: '5s', timeout: '4s' };
  const others = Array.from({ length: 22 }, (_, index) => ({
    name: `eu-${index}`,
    id: `5${index}`,
    token: `token-of-eu-${index}`,
    skills: ['Go'],
    resources: [{ id: `person-${index}` }],
  }));
  const s = await scene({ skills: ['Go'], others, api: limits, settings: { latencyMs: 30 } });
  for (const { name } of s.sandbox.accounts) s.configure('skills: [Go, Zig]', name);
  for (const args of [['plan'], ['apply', '--all', '--yes']]) {
    s.sandbox.clearRequests();
    expect((await s.run(args)).status).toBe(0);
    const log = s.sandbox.requests();
    // Exactly: all places of the address are in use, and never more.
    expect(Math.max(...log.map(({ inFlight }) => inFlight))).toBe(limits.hostConcurrency);
    for (const { name } of s.sandbox.accounts) {
      const arrivals = log.filter(({ account }) => account === name).map(({ at }) => Date.parse(at));
      const next = arrivals.slice(limits.requestsPerSecond);
      expect(next).toEqual(next.filter((atMs, first) => atMs - (arrivals[first] ?? atMs) >= 1000));
    }
  }
  expect(s.writes()).toEqual(s.sandbox.accounts.map(() => 'POST Zig'));
});
