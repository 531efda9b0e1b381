// The accounts that `apply` writes to: only those that the command names.
import { expect, test } from 'vitest';
import { type Scene, arrayOf, type RunJson, scene } from '../support/scene.ts';

const seed = (name: string) => ({
  name,
  id: name,
  token: `token-of-${name}`,
  skills: [],
  roles: [],
  resources: [],
});

async function threeAccounts(): Promise<Scene> {
  const s = await scene({ file: 'skills: [New]', others: [seed('eu-live'), seed('eu-test')] });
  for (const account of ['eu-live', 'eu-test']) s.configure('skills: [New]', account);
  return s;
}

test('apply with several accounts and no names refuses, lists them, and sends no request to the service', async () => {
  const s = await threeAccounts();
  for (const args of [['--yes'], ['--yes', '--format', 'json'], []]) {
    const { status, stdout, stderr } = await s.run(['apply', ...args]);
    expect(status).toBe(64);
    if (args.includes('json')) expect(JSON.parse(stdout)).toMatchObject([{ error: { code: 'usage' } }]);
    else expect(stdout).toBe('');
    for (const part of ['acme, eu-live, eu-test', '--all']) expect(stderr).toContain(part);
  }
  expect(s.sandbox.requests()).toEqual([]);
});

test.each([
  [
    ['acme', 'eu-test'],
    ['acme', 'eu-test'],
  ],
  [['eu-*'], ['eu-live', 'eu-test']],
  [['eu-*', '!eu-test'], ['eu-live']],
  [['--all'], ['acme', 'eu-live', 'eu-test']],
  [
    ['--all', '!acme'],
    ['eu-live', 'eu-test'],
  ],
])('apply %j writes to %j and to no other account', async (args, accounts) => {
  const s = await threeAccounts();
  await s.run(['plan']);
  const result = await s.run(['apply', '--yes', '--format', 'json', ...args]);
  expect(arrayOf<RunJson>(result).map(({ account }) => account)).toEqual(accounts);
  const written = ['acme', 'eu-live', 'eu-test'].filter((account) => s.names(account).skills.length > 0);
  expect(written).toEqual(accounts);
});

test('apply with names that match nothing, or with options that contradict, is wrong usage and sends no request', async () => {
  const s = await threeAccounts();
  for (const [args, message] of [
    [['eu-tset'], 'there is no account "eu-tset"'],
    [['zz-*'], 'no account matches "zz-*"'],
    [['eu-*', '!eu-tset'], 'no account matches "!eu-tset"'],
    [['--all', 'acme'], '--all'],
    [['!eu-test'], 'apply needs names, globs'],
  ] as const) {
    const { status, stderr } = await s.run(['apply', '--yes', ...args]);
    expect([args, status, stderr]).toEqual([args, 64, expect.stringContaining(message)]);
  }
  expect(s.sandbox.requests()).toEqual([]);
});

test('apply --plan without names applies the accounts of the saved plan, and exclusions apply to those', async () => {
  const s = await threeAccounts();
  await s.run(['plan', 'eu-*', '--save', 'plan.json']);
  const partly = await s.run(['apply', '--plan', 'plan.json', '!eu-test', '--format', 'json']);
  expect(arrayOf<RunJson>(partly).map(({ account }) => account)).toEqual(['eu-live']);
  const { status } = await s.run(['apply', '--plan', 'plan.json', 'eu-test']);
  expect([status, s.names('eu-test').skills, s.names().skills]).toEqual([0, ['New'], []]);
  expect((await s.run(['apply', '--plan', 'plan.json', 'acme'])).status).toBe(64);
});

test('plan and apply of a fleet show equal changes once, and apply writes to each account', async () => {
  const names = Array.from({ length: 24 }, (_, index) => `eu-${index}`);
  const others = names.map((name) => seed(name));
  const api = { timeout: '30s', settle: '31s' };
  const s = await scene({ skills: ['New'], file: 'skills: [New]', others, api });
  for (const name of names) s.configure('skills: [New]', name);
  const plan = await s.run(['plan', '--format', 'markdown']);
  expect(plan.stdout).toMatch(
    /### 24 accounts, each: 1 to create.*`eu-19` … and 12 more\n.*### `acme`: nothing to do/s,
  );
  const { status, stdout, stderr } = await s.run(['apply', '--all', '--yes']);
  expect([status, names.map((name) => s.names(name).skills)]).toEqual([0, names.map(() => ['New'])]);
  expect(stdout).toMatch(/^24 accounts, each: converged\n +eu-0, .*eu-19 … and 12 more\n/m);
  expect(stdout).toContain('\nacme: converged, nothing to do; 1 entry matches the file\n');
  expect(`${stdout}${stderr}`.split('\n').length).toBeLessThan(24);
});

test('plan, who and validate take globs and exclusions, and all accounts without names', async () => {
  const s = await threeAccounts();
  for (const command of [['plan'], ['who', '--live'], ['validate', '--online']]) {
    const shown = async (...args: string[]) => {
      const { stdout } = await s.run([...command, ...args]);
      return ['acme', 'eu-live', 'eu-test'].filter((account) => stdout.includes(account));
    };
    expect([command, await shown()]).toEqual([command, ['acme', 'eu-live', 'eu-test']]);
    expect([command, await shown('eu-*')]).toEqual([command, ['eu-live', 'eu-test']]);
    expect([command, await shown('eu-*', '!eu-live')]).toEqual([command, ['eu-test']]);
    expect((await s.run([...command, 'zz-*'])).status).toBe(64);
  }
});
