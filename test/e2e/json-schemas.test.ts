// The JSON output of each command matches its published schema, even when the command fails.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { publishedSchema } from '../support/published-schema.ts';
import { type Scene, scene } from '../support/scene.ts';

const SCHEMA_OF = {
  plan: 'plan',
  apply: 'run',
  show: 'run',
  history: 'history',
  validate: 'validate',
  status: 'status',
  who: 'who',
  restore: 'restore',
  diff: 'diff',
} as const;

/** The commands whose JSON is one object. That of the others is a list. */
const PRINT_ONE: readonly string[] = ['show', 'diff', 'restore'];

interface Failure {
  readonly status: 'failed';
  readonly account: string;
  readonly error: { readonly message: string };
}

function isCommandFailure(element: object): element is Failure {
  return 'status' in element && element.status === 'failed' && 'account' in element && element.account === '';
}

/** Every element that the command prints; each must match the schema. */
async function elements(
  s: Scene,
  args: readonly string[],
  status: number,
): Promise<Record<string, unknown>[]> {
  const result = await s.run([...args, '--format', 'json']);
  expect([args, result.status]).toEqual([args, status]);
  const value = JSON.parse(result.stdout) as unknown;
  const list = (Array.isArray(value) ? value : [value]) as Record<string, unknown>[];
  const special = { '--actions': 'actions', '--lists': 'snapshots', '--live': 'coverage' };
  const option = Object.entries(special).find(([name]) => args.includes(name));
  const schema = publishedSchema(option?.[1] ?? SCHEMA_OF[args[0] as keyof typeof SCHEMA_OF]);
  for (const element of list) {
    expect([args, schema.safeParse(element).error?.message]).toEqual([args, undefined]);
    expect(element['schemaVersion']).toBe(1);
    // A schema that accepts anything would prove nothing.
    expect(schema.safeParse({ ...element, surprise: 1 }).success).toBe(false);
  }
  // People read the failure of the command on stderr, and nothing but warnings when there is none.
  const failures = (list as object[])
    .filter(isCommandFailure)
    .map(({ error }) => error.message.split('\n')[0] ?? '');
  for (const message of failures)
    expect([args, result.stderr]).toEqual([args, expect.stringContaining(message)]);
  if (status === 0)
    expect([args, result.stderr]).toEqual([args, expect.stringMatching(/^(?:warning: .*\n)*$/)]);
  return list;
}

test('the JSON of status, who, restore, snapshots and diff matches the published schemas', async () => {
  const s = await scene({
    skills: ['Perl', 'Kept'],
    roles: ['Dev'],
    resources: [{ id: 'p1', skills: ['Perl'], role: 'Dev' }],
    file: 'policy: { delete: always, maxDeletePercent: 100 }\nskills: [Kept, New]\nroles: [Dev]',
  });
  s.configure('skills: [1.0]', 'broken');
  await s.run(['plan', 'acme']);
  await s.run(['apply', 'acme', '--yes']);
  expect((await elements(s, ['status'], 0)).map(({ state }) => state)).toEqual(['invalid', 'converged']);
  expect(await elements(s, ['who', 'Kept'], 0)).toHaveLength(2);
  expect(await elements(s, ['who', 'nobody'], 1)).toHaveLength(2);
  expect(await elements(s, ['restore', 'last'], 0)).toMatchObject([{ yaml: 'skills:\n  - Perl\n' }]);
  expect((await elements(s, ['history', '--lists'], 0)).length).toBe(3);
  expect(await elements(s, ['diff', '1', 'now'], 0)).toMatchObject([{ after: { id: null } }]);
});

test('every command with --format json has a published schema, which this file checks', async () => {
  const s = await scene({ file: 'skills: [A]' });
  const { stdout } = await s.run(['--help']);
  const commands = [...stdout.matchAll(/^  ([a-z-]+)(?= .*\S)/gm)].map(([, name]) => name ?? '');
  expect(commands).toContain('validate');
  const reporting: string[] = [];
  for (const command of commands) {
    const help = await s.run([command, '--help']);
    if (/--format <format>.*\n?.*"json"/.test(help.stdout)) reporting.push(command);
  }
  expect(reporting.toSorted()).toEqual(Object.keys(SCHEMA_OF).toSorted());
});

test('the JSON of history, who, validate, plan, apply and show matches the published schemas', async () => {
  const s = await scene({
    skills: ['Perl', 'Kept', 'Unused'],
    roles: ['Dev'],
    resources: [{ id: 'p1', skills: ['Perl'], role: 'Dev' }],
    file: 'skills: [Kept, New]\nroles: [Dev]\nallowedDeletes: [{ kind: skill, name: Gone, expires: 2999-12-31 }]',
  });
  s.configure('skills: [1.0]', 'broken');
  expect((await elements(s, ['plan'], 4)).map(({ status }) => status)).toEqual(['planned', 'failed']);
  expect(await elements(s, ['apply', '--yes', 'acme'], 3)).toHaveLength(1);
  expect((await elements(s, ['history'], 0)).length).toBeGreaterThan(2);
  expect(await elements(s, ['show', 'last'], 0)).toHaveLength(1);
  expect(await elements(s, ['history', '--status', 'blocked'], 0)).toEqual([]);
  await s.run(['pause', 'acme', '--reason', 'audit']);
  await s.run(['resume', 'acme']);
  expect(await elements(s, ['history', '--actions'], 0)).toMatchObject([
    { account: 'acme', action: 'resume', via: 'cli', detail: null },
    { account: 'acme', action: 'pause', by: expect.stringMatching(/.@./), detail: 'audit' },
  ]);
  expect(await elements(s, ['history', '--actions', 'broken'], 0)).toEqual([]);
  expect(await s.run(['history', '--actions', '--limit', '1', '--since', '1h'])).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(
      /When \(UTC\).*\n.* acme .*@.* CLI +resumed\n[^]*1 action, as many as --limit allows\./u,
    ),
  });
  expect(await s.run(['history', '--actions', '--status', 'held'])).toMatchObject({
    status: 64,
    stderr: expect.stringContaining('--actions'),
  });
  expect((await elements(s, ['plan', 'broken'], 4)).map(({ status }) => status)).toEqual(['failed']);
  expect((await elements(s, ['apply', '--yes', 'broken'], 4)).map(({ status }) => status)).toEqual([
    'failed',
  ]);
  expect((await elements(s, ['who', '--live'], 4)).map(({ status }) => status)).toEqual([
    undefined,
    'failed',
  ]);
  expect((await elements(s, ['validate'], 4)).length).toBeGreaterThan(0);
  const parts = await elements(s, ['validate', '--online'], 4);
  expect(parts.filter(({ title }) => title !== undefined).map(({ account }) => account)).toEqual([
    null,
    'acme',
    'broken',
  ]);
});

const STORE_READERS = [
  ['history'],
  ['history', '--actions'],
  ['show', 'last'],
  ['status'],
  ['history', '--lists'],
  ['who', 'A'],
  ['restore', 'last'],
  ['diff', 'last', 'now'],
];

test.each([['plan'], ['apply', '--yes'], ['who', '--live'], ...STORE_READERS].map((args) => [args]))(
  'the command %j prints JSON even when the service file is invalid',
  async (args) => {
    const s = await scene({ file: 'skills: [A]' });
    s.write('config/rolecall.yaml', 'accounts: 5\n');
    const [failure] = await elements(s, args, 4);
    expect(failure).toMatchObject({ status: 'failed', error: { code: 'config_invalid' } });
    const { stdout } = await s.run([...args, '--format', 'json', '--output', 'report.json']);
    expect(stdout).toBe('');
    expect(readFileSync(`${s.folder}/report.json`, 'utf8')).toContain('config_invalid');
  },
);

test.each([['plan'], ['apply', '--yes'], ...STORE_READERS].map((args) => [args]))(
  'the command %j prints JSON even when the store cannot be opened',
  async (args) => {
    const s = await scene({ file: 'skills: [A]' });
    s.write('data/rolecall.db', 'no database, and longer than its header');
    const [failure] = await elements(s, args, 1);
    expect(failure).toMatchObject({ status: 'failed', error: { code: expect.stringMatching(/^store_/) } });
  },
);

// Without a store, status lists the configured accounts.
test.each(STORE_READERS.filter(([command]) => command !== 'status').map((args) => [args]))(
  'the command %j prints JSON even when there is no store yet',
  async (args) => {
    const s = await scene({ file: 'skills: [A]' });
    const [failure] = await elements(s, args, 1);
    expect(failure).toMatchObject({ status: 'failed', error: { code: 'store_missing' } });
  },
);

test.each(
  [
    ['show', 'ffff'],
    ['restore', 'ffff'],
    ['diff', '0fff', 'now'],
  ].map((args) => [args]),
)('the command %j prints JSON when no run has this id', async (args) => {
  const s = await scene({ file: 'skills: [A]' });
  await s.run(['plan']);
  expect(await elements(s, args, 1)).toMatchObject([{ status: 'failed', account: '' }]);
});

test('validate prints JSON for a valid configuration and for an empty service file', async () => {
  const s = await scene({ file: 'skills: [A]' });
  expect(await elements(s, ['validate'], 0)).toEqual([]);
  s.write('config/rolecall.yaml', '');
  expect((await elements(s, ['validate'], 4)).length).toBeGreaterThan(0);
});

const WRONG_USAGE: readonly (readonly string[])[] = [
  ['plan', 'nobody'],
  ['apply', '--plan', 'missing.json'],
  ['who', '--live', 'nobody'],
  ['status', 'nobody'],
  ['diff', 'now', 'now'],
  ['validate', '--online', 'nobody'],
  ['validate', '--output', 'missing/report'],
];

test.each(WRONG_USAGE.map((args) => [args]))(
  'the command %j prints a refused value as JSON',
  async (args) => {
    const s = await scene({ file: 'skills: [A]' });
    const list = await elements(s, args, 64);
    expect(list).toMatchObject([{ status: 'failed', error: { code: 'usage' } }]);
    expect(JSON.stringify(list)).not.toMatch(/"message":"error|bug/);
    const { stdout, stderr } = await s.run([...args, '--format=json']);
    expect(Array.isArray(JSON.parse(stdout))).toBe(!PRINT_ONE.includes(args[0] ?? ''));
    expect(stderr).toMatch(/^error: /m);
  },
);

test('wrong usage prints no JSON without --format json', async () => {
  const s = await scene({ file: 'skills: [A]' });
  for (const args of [
    ['plan', 'nobody'],
    ['dump', 'acme', '--format', 'json'],
  ])
    expect(await s.run(args)).toMatchObject({ status: 64, stdout: '' });
});
