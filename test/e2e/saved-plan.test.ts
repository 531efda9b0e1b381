// Plans as files and as JSON: saved, applied or refused as stale, the same bytes every time.
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Plan } from '../../src/core/plan.ts';
import { arrayOf, scene, type Scene, type SceneOptions } from '../support/scene.ts';

const BUSY: SceneOptions = {
  skills: [
    'Old b',
    'Old a',
    'Kept',
    'Used',
    'Protected',
    { name: 'Twin', id: 't1' },
    { name: 'Twin', id: 't2' },
  ],
  roles: ['Dev', 'Old role'],
  resources: [
    { id: 'r2', skills: ['Used', 'Kept'], role: 'Dev' },
    { id: 'r1', skills: ['Used'], role: 'Dev' },
  ],
  file: 'skills: [New b, New a, Kept, Twin]\nroles: [Dev]\npolicy: { protect: [Protected] }',
};

async function saved(s: Scene): Promise<Plan> {
  // On a fresh store deletes are held.
  await s.run(['plan']);
  const { status } = await s.run(['plan', '--save', 'plan.json']);
  expect(status).toBe(0);
  const [plan] = JSON.parse(readFileSync(join(s.folder, 'plan.json'), 'utf8')) as Plan[];
  if (plan === undefined) throw new Error('the file contains no plan');
  return plan;
}

test('a saved plan is applied exactly, without a question, and cannot be applied twice', async () => {
  const s = await scene(BUSY);
  const plan = await saved(s);
  expect(statSync(join(s.folder, 'plan.json')).mode & 0o077).toBe(0);
  const { status, stderr } = await s.run(['apply', '--plan', 'plan.json']);
  expect(stderr).toBe('');
  expect(status).toBe(3);
  expect(s.writes().toSorted()).toEqual(
    plan.operations
      .map(({ action, name }) => `${action === 'create' ? 'POST' : 'DELETE'} ${name}`)
      .toSorted(),
  );
  s.sandbox.clearRequests();
  expect((await s.run(['apply', '--plan', 'plan.json'])).status).toBe(5);
  expect(s.writes()).toEqual([]);
});

interface Reported {
  readonly code: string;
  readonly name?: string;
  readonly message: string;
}

/** What is done after the plan was saved, and what the refusal must report: each change, and words of its message. */
const CHANGES: readonly (readonly [
  string,
  (s: Scene) => void,
  readonly (readonly [name: string | undefined, message: string])[],
])[] = [
  [
    'another entry exists',
    (s) => s.sandbox.addSkill('acme', 'Surprise'),
    [['Surprise', 'it would be deleted now']],
  ],
  [
    'an entry was removed',
    (s) => s.sandbox.removeEntry('acme', s.idOf('Old a')),
    [['Old a', 'is no longer in the account']],
  ],
  [
    'an entry that the file names was removed',
    (s) => s.sandbox.removeEntry('acme', s.idOf('Dev')),
    [['Dev', 'it would be created now']],
  ],
  [
    'an entry that the file names was renamed',
    (s) => s.sandbox.renameEntry('acme', s.idOf('Dev'), 'Developer'),
    [['Dev', 'is no longer in the account; it would be created now']],
  ],
  [
    'an entry that the plan deletes was renamed',
    (s) => s.sandbox.renameEntry('acme', s.idOf('Old a'), 'Older a'),
    [['Older a', 'was renamed from “Old a” to “Older a”']],
  ],
  [
    'the entry of a planned create exists already',
    (s) => s.sandbox.addSkill('acme', 'New a'),
    [['New a', 'exists in the account now']],
  ],
  [
    'somebody was assigned an entry that the plan deletes',
    (s) => s.sandbox.assign('acme', 'r1', s.idOf('Old a')),
    [['Old a', 'is held now (in_use); people who have it: r1']],
  ],
  [
    'the file lists other skills',
    (s) => s.configure('skills: [New c]'),
    [
      [undefined, 'changed'],
      ['New c', 'it would be created now'],
      ['Twin', 'it would be deleted now'],
    ],
  ],
];

test.each(CHANGES)(
  'a saved plan is stale and nothing is written when %s, which the refusal reports',
  async (_, change, expected) => {
    const s = await scene(BUSY);
    await saved(s);
    change(s);
    s.sandbox.clearRequests();
    const { status, stdout } = await s.run(['apply', '--plan', 'plan.json', '--format', 'json']);
    expect(status).toBe(5);
    const [run] = arrayOf<{ warnings: Reported[] }>(
      Object.assign({ status, stdout, stderr: '', signal: null }),
    );
    expect(run).toMatchObject({ status: 'failed', errorCode: 'plan_stale' });
    expect(s.writes()).toEqual([]);
    const changes = run?.warnings.filter(({ code }) => code === 'changed_since_plan') ?? [];
    for (const [name, words] of expected) {
      const found = changes.find((each) => each.name === name);
      expect([name, found?.message]).toEqual([name, expect.stringContaining(words)]);
    }
    const shown = (await s.run(['show', 'last'])).stdout;
    expect(shown).toContain(`Changed since the plan was made (${changes.length})`);
    for (const { message } of changes) expect(shown).toContain(message.split(' ')[0]);
  },
);

test('a saved plan whose deletes lose other people names who gained and who lost the entry', async () => {
  const s = await scene({ ...BUSY, file: 'skills: [Kept, Twin]\npolicy: { delete: always }' });
  await saved(s);
  s.sandbox.unassign('acme', 'r2', s.idOf('Used'));
  s.sandbox.addResource('acme', { id: 'r3', skills: ['Used'] });
  const { status, stdout } = await s.run(['apply', '--plan', 'plan.json']);
  expect([status, s.writes()]).toEqual([5, []]);
  expect(stdout).toMatch(/- skill {2}Used {2}2 people have it now: newly r3; no longer r2/);
});

test('a saved plan whose operations were edited is not applied', async () => {
  const s = await scene(BUSY);
  const plan = await saved(s);
  s.sandbox.clearRequests();
  for (const operations of [
    plan.operations.filter(({ name }) => name !== 'Old a'),
    plan.operations.map((each) => ({ ...each, name: 'Kept' })),
  ]) {
    s.write('plan.json', JSON.stringify([{ ...plan, operations }]));
    const { status, stderr } = await s.run(['apply', '--plan', 'plan.json']);
    expect([status, s.writes()]).toEqual([5, []]);
    expect(stderr).toContain('acme: its plan in plan.json was edited after it was saved');
  }
});

test('a file that is no saved plan is refused as wrong usage', async () => {
  const s = await scene({ file: 'skills: [New]' });
  for (const text of [
    undefined,
    '{ nonsense',
    '{}',
    '[{ "schemaVersion": 1, "account": "acme" }]',
    '[{ "schemaVersion": 2, "account": "acme", "digest": "sha256:0" }]',
  ]) {
    if (text !== undefined) s.write('plan.json', text);
    const { status, stderr } = await s.run(['apply', '--plan', 'plan.json']);
    expect([text, status, stderr]).toEqual([text, 64, expect.stringContaining('plan.json')]);
  }
  expect(s.sandbox.requests()).toEqual([]);
});

test('a saved plan of another account is refused, and a failed one cannot be applied', async () => {
  const s = await scene({
    file: 'skills: [New]',
    others: [{ name: 'other', id: '43', token: 'token-of-other' }],
  });
  s.configure('skills: [A]', 'other');
  await s.run(['plan', '--save', 'plan.json', 'other']);
  expect((await s.run(['apply', '--plan', 'plan.json', 'acme'])).status).toBe(64);
  s.sandbox.setFaults([{ match: { account: 'acme' }, times: 3, do: { type: 'status', status: 401 } }]);
  expect((await s.run(['plan', '--save', 'failed.json', 'acme'])).status).toBe(1);
  s.sandbox.setFaults([]);
  expect((await s.run(['apply', '--plan', 'failed.json'])).status).toBe(1);
  expect(s.writes()).toEqual([]);
});

test('plan refuses to save a plan into the file of its report', async () => {
  const s = await scene({ file: 'skills: [New]' });
  const { status, stderr } = await s.run(['plan', '--save', 'p.json', '--output', './p.json']);
  expect([status, stderr]).toEqual([64, expect.stringContaining('use two files')]);
  expect(s.sandbox.requests()).toEqual([]);
});
