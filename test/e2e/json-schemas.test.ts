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
  usage: 'usage',
  validate: 'validate',
  doctor: 'doctor',
  status: 'status',
  who: 'who',
  restore: 'restore',
  snapshots: 'snapshots',
  diff: 'diff',
} as const;

/** Every element that the command prints; each must match the schema. */
async function elements(
  s: Scene,
  args: readonly string[],
  status: number,
): Promise<Record<string, unknown>[]> {
  const result = await s.run([...args, '--format', 'json']);
  expect([args, result.status, result.stderr === '' ? '' : result.stderr]).toEqual([
    args,
    status,
    result.stderr,
  ]);
  const value = JSON.parse(result.stdout) as unknown;
  const list = (Array.isArray(value) ? value : [value]) as Record<string, unknown>[];
  const schema = publishedSchema(SCHEMA_OF[args[0] as keyof typeof SCHEMA_OF]);
  for (const element of list) {
    expect([args, schema.safeParse(element).error?.message]).toEqual([args, undefined]);
    expect(element['schemaVersion']).toBe(1);
    // A schema that accepts anything would prove nothing.
    expect(schema.safeParse({ ...element, surprise: 1 }).success).toBe(false);
  }
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
  expect((await elements(s, ['snapshots'], 0)).length).toBe(3);
  expect(await elements(s, ['diff', '1', 'now'], 0)).toMatchObject([{ after: { id: null } }]);
});

test('the JSON of history, usage, validate, doctor, plan, apply and show matches the published schemas', async () => {
  const s = await scene({
    skills: ['Perl', 'Kept', 'Unused'],
    roles: ['Dev'],
    resources: [{ id: 'p1', skills: ['Perl'], role: 'Dev' }],
    file: 'skills: [Kept, New]\nroles: [Dev]\napprovedDeletes: [{ kind: skill, name: Gone }]',
  });
  s.configure('skills: [1.0]', 'broken');
  expect((await elements(s, ['plan'], 4)).map(({ status }) => status)).toEqual(['planned', 'failed']);
  expect(await elements(s, ['apply', '--yes', 'acme'], 3)).toHaveLength(1);
  expect((await elements(s, ['history'], 0)).length).toBeGreaterThan(2);
  expect(await elements(s, ['show', 'last'], 0)).toHaveLength(1);
  expect((await elements(s, ['usage'], 4)).map(({ status }) => status)).toEqual([undefined, 'failed']);
  expect((await elements(s, ['validate'], 4)).length).toBeGreaterThan(0);
  const parts = await elements(s, ['doctor'], 4);
  expect(parts.map(({ account }) => account)).toEqual([null, 'acme', 'broken']);
});

test.each([
  [['plan']],
  [['apply', '--yes']],
  [['history']],
  [['show', 'last']],
  [['usage']],
  [['doctor']],
  [['status']],
  [['who', 'A']],
  [['restore', 'last']],
  [['snapshots']],
  [['diff', 'last', 'now']],
])('the command %j prints JSON even when the service file is invalid', async (args) => {
  const s = await scene({ file: 'skills: [A]' });
  s.write('config/rolecall.yaml', 'accounts: 5\n');
  const [failure] = await elements(s, args, 4);
  expect(failure).toMatchObject({ status: 'failed', error: { code: 'config_invalid' } });
  const { stdout } = await s.run([...args, '--format', 'json', '--output', 'report.json']);
  expect(stdout).toBe('');
  expect(readFileSync(`${s.folder}/report.json`, 'utf8')).toContain('config_invalid');
});

test.each([
  [['plan']],
  [['apply', '--yes']],
  [['history']],
  [['show', 'last']],
  [['status']],
  [['who', 'A']],
  [['restore', 'last']],
  [['snapshots']],
  [['diff', 'last', 'now']],
])('the command %j prints JSON even when the store cannot be opened', async (args) => {
  const s = await scene({ file: 'skills: [A]' });
  s.write('data/rolecall.db', 'no database, and longer than its header');
  const [failure] = await elements(s, args, 1);
  expect(failure).toMatchObject({ status: 'failed', error: { code: expect.stringMatching(/^store_/) } });
});

test('validate prints JSON for a valid configuration and for an empty service file', async () => {
  const s = await scene({ file: 'skills: [A]' });
  expect(await elements(s, ['validate'], 0)).toEqual([]);
  s.write('config/rolecall.yaml', '');
  expect((await elements(s, ['validate'], 4)).length).toBeGreaterThan(0);
});

const WRONG_USAGE: readonly (readonly string[])[] = [
  ['plan', 'nobody'],
  ['plan', '--nonsense'],
  ['apply', '--plan', 'missing.json'],
  ['apply', '--yes', '--lock-timeout', 'soon'],
  ['history', '--status', 'odd'],
  ['history', '--limit', '0'],
  ['show'],
  ['show', 'nothing', 'surplus'],
  ['usage', 'nobody'],
  ['status', 'nobody'],
  ['who'],
  ['diff', 'now', 'now'],
  ['restore', 'last', '--format', 'odd'],
  ['doctor', 'nobody'],
  ['validate', 'surplus'],
  ['validate', '--output', 'missing/report'],
];

test.each(WRONG_USAGE.map((args) => [args]))('the command %j prints wrong usage as JSON', async (args) => {
  const s = await scene({ file: 'skills: [A]' });
  const list = await elements(s, args, 64);
  expect(list).toMatchObject([{ status: 'failed', error: { code: 'usage' } }]);
  expect(JSON.stringify(list)).not.toMatch(/"message":"error|bug/);
  const { stdout, stderr } = await s.run([...args, '--format=json']);
  expect(Array.isArray(JSON.parse(stdout))).toBe(!['show', 'diff', 'restore'].includes(args[0] ?? ''));
  expect(stderr).toMatch(/^error: /m);
});

test('wrong usage prints no JSON without --format json', async () => {
  const s = await scene({ file: 'skills: [A]' });
  for (const args of [
    ['plan', 'nobody'],
    ['plan', '--nonsense', '--', '--format=json'],
    ['dump', 'acme', '--format', 'json'],
  ])
    expect(await s.run(args)).toMatchObject({ status: 64, stdout: '' });
});
