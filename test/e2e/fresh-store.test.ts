// A store without data of an account, as on a hosted CI runner: which deletes and creates are allowed.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Plan } from '../../src/core/plan.ts';
import { codes, changesOf, holds, scene, TOKEN, tokenVariable } from '../support/scene.ts';
import { hasTerminal, onTerminal } from '../support/terminal.ts';

const TWO_HAVE_IT = {
  skills: ['Go', 'Kubernetes'],
  resources: [
    { id: 'ann', skills: ['Kubernetes'] },
    { id: 'bob', skills: ['Kubernetes'] },
  ],
  file: 'skills: [Go]',
};
const NO_PEOPLE = {
  match: { method: 'GET', path: 'resource' },
  times: 'always',
  do: { type: 'empty-list' },
} as const;

test('a first apply deletes nothing when the list of people is empty by mistake', async () => {
  const s = await scene({ ...TWO_HAVE_IT, isFresh: true, faults: [NO_PEOPLE] });
  const { result, run, plan } = await s.apply();
  expect([result.status, run.status, s.writes()]).toEqual([3, 'held', []]);
  expect(holds(plan)).toEqual({ Kubernetes: ['no_history', 'no_people'] });
  expect(codes(plan)).toContain('no_history');
});

test('even with history nothing is deleted while no people are listed, unless the policy allows it', async () => {
  const s = await scene({ ...TWO_HAVE_IT, resources: [], isFresh: true });
  await s.run(['plan']);
  const held = await s.apply();
  expect([held.run.status, holds(held.plan)]).toEqual(['held', { Kubernetes: ['no_people'] }]);
  s.configure('skills: [Go]\npolicy: { allowNoPeople: true }');
  expect((await s.apply()).run).toMatchObject({ status: 'converged', deleted: 1 });
});

test('a first apply holds deletes and creates what is missing; the next one deletes', async () => {
  const s = await scene({ skills: ['Go', 'Perl'], file: 'skills: [Go, Zig]', isFresh: true });
  const first = await s.apply();
  expect([first.result.status, s.writes()]).toEqual([3, ['POST Zig']]);
  expect(holds(first.plan)).toEqual({ Perl: ['no_history'] });
  const second = await s.apply();
  expect([second.result.status, s.writes()]).toEqual([0, ['POST Zig', 'DELETE Perl']]);
  expect(codes(second.plan)).not.toContain('no_history');
});

test('a dry run on the same store or --accept-no-history allows a first apply to delete', async () => {
  const s = await scene({ skills: ['Go', 'Perl'], file: 'skills: [Go]', isFresh: true });
  expect(holds((await s.plan()).plan)).toEqual({ Perl: ['no_history'] });
  expect(changesOf((await s.plan()).plan)).toEqual(['delete Perl']);
  const other = await scene({ skills: ['Go', 'Perl'], file: 'skills: [Go]', isFresh: true });
  const accepted = await other.apply('--accept-no-history');
  expect([accepted.result.status, other.writes()]).toEqual([0, ['DELETE Perl']]);
});

test('a saved first plan is applied as it was saved, and is stale once the account changed', async () => {
  const s = await scene({ skills: ['Go', 'Perl'], file: 'skills: [Go, Zig]', isFresh: true });
  await s.run(['plan', '--out', 'plan.json']);
  expect((await s.run(['apply', '--plan', 'plan.json'])).status).toBe(3);
  expect(s.writes()).toEqual(['POST Zig']);

  const other = await scene({ skills: ['Go', 'Perl'], file: 'skills: [Go, Zig]', isFresh: true });
  await other.run(['plan', '--out', 'plan.json']);
  other.sandbox.addSkill('acme', 'Fortran');
  expect((await other.run(['apply', '--plan', 'plan.json'])).status).toBe(5);
  expect(other.writes()).toEqual([]);
});

test('a plan saved with --accept-no-history deletes on its own store and on another one without history', async () => {
  for (const isOtherStore of [false, true]) {
    const s = await scene({ skills: ['Go', 'Perl'], file: 'skills: [Go]', isFresh: true });
    const { plan } = await s.plan('--accept-no-history', '--save', 'plan.json');
    expect([changesOf(plan), codes(plan)]).toEqual([['delete Perl'], ['no_history']]);
    if (isOtherStore) rmSync(join(s.folder, 'data'), { recursive: true });
    expect((await s.run(['apply', '--plan', 'plan.json'])).status).toBe(0);
    expect(s.writes()).toEqual(['DELETE Perl']);
  }
});

test('a saved plan whose deletes are held only by missing history is refused with the option that allows them', async () => {
  const s = await scene({ skills: ['Go', 'Perl'], file: 'skills: [Go]' });
  await s.plan('--save', 'plan.json');
  const forget = (): void => rmSync(join(s.folder, 'data'), { recursive: true });
  forget();
  const refused = await s.run(['apply', '--plan', 'plan.json']);
  expect([refused.status, s.writes()]).toEqual([5, []]);
  expect(refused.stdout).toContain('no_history');
  expect(refused.stdout).toContain('--accept-no-history');
  expect(refused.stdout).not.toContain('the account or its file changed');
  forget();
  const applied = await s.run(['apply', '--plan', 'plan.json', '--accept-no-history']);
  expect([applied.status, s.writes()]).toEqual([0, ['DELETE Perl']]);
});

test('plan --server refuses --accept-no-history, since the daemon has the history', async () => {
  const s = await scene({ file: 'skills: []' });
  const result = await s.run(['plan', '--server', 'http://127.0.0.1:9', '--accept-no-history']);
  expect([result.status, result.stderr]).toEqual([64, expect.stringContaining('--accept-no-history')]);
});

test.skipIf(!hasTerminal)(
  'an apply that asks for confirmation applies the plan that it showed, although showing it stored lists',
  async () => {
    const s = await scene({ skills: ['Go', 'Perl'], file: 'skills: [Go, Zig]', isFresh: true });
    const env = { ROLECALL_CONFIG: join(s.folder, 'config/rolecall.yaml'), [tokenVariable('acme')]: TOKEN };
    const { status } = await onTerminal(s.folder, ['apply'], { answer: 'yes', env });
    expect([status, s.writes()]).toEqual([3, ['POST Zig']]);
  },
);

const SIXTY_ONE = Array.from({ length: 61 }, (_, index) => `Skill ${index}`);
const EMPTY_SKILLS = {
  match: { method: 'GET', path: 'skill' },
  times: 'always',
  do: { type: 'empty-list' },
} as const;

test('a list that is empty by mistake causes at most one create in several runs', async () => {
  const s = await scene({
    skills: SIXTY_ONE,
    file: `skills: ${JSON.stringify(SIXTY_ONE)}`,
    faults: [EMPTY_SKILLS],
    isFresh: true,
  });
  const first = await s.apply();
  expect([first.result.status, first.run.status, s.writes().length]).toEqual([3, 'blocked', 1]);
  expect(first.run.errorCode).toBe('suspicious_list');
  // Also when the create no longer counts as one that a stale list may lack.
  s.execute("update operations set finished_at = '2026-01-01T00:00:00.000Z' where status = 'done'");
  const second = await s.apply();
  expect([second.result.status, second.run.status, s.writes().length]).toEqual([3, 'blocked', 1]);
  expect(codes(second.plan)).toContain('suspicious_list');

  s.sandbox.setFaults([]);
  expect((await s.apply()).run).toMatchObject({ status: 'converged', created: 0 });
});

test('a list that turns out to have entries after the first create stops the run', async () => {
  const s = await scene({
    skills: SIXTY_ONE,
    file: `skills: ${JSON.stringify(SIXTY_ONE)}`,
    faults: [{ ...EMPTY_SKILLS, times: 2 }],
    isFresh: true,
  });
  const { run } = await s.apply();
  expect([run.status, run.errorCode, s.writes().length]).toEqual(['blocked', 'suspicious_list', 1]);
});

test('on a fresh store, lists that lack entries of people block all writes; --accept-shrink allows the first create', async () => {
  const s = await scene({ ...TWO_HAVE_IT, file: 'skills: [Go, Zig]', faults: [EMPTY_SKILLS], isFresh: true });
  for (const round of [1, 2]) {
    const { result, run, plan } = await s.apply();
    expect([round, result.status, run.status, codes(plan)]).toEqual([
      round,
      3,
      'blocked',
      ['no_history', 'suspicious_list'],
    ]);
  }
  expect(s.writes()).toEqual([]);
  expect((await s.apply('--accept-shrink')).run.status).toBe('blocked');
  expect(s.writes()).toEqual(['POST Go']);
});

test('lists that show fewer than half of at least four entries that people have block the run', async () => {
  const skills = ['A', 'B', 'C', 'D'];
  const s = await scene({
    skills,
    resources: skills.map((name, index) => ({ id: `p${index}`, skills: [name] })),
    file: 'skills: [A, B, C, D, New]',
    isFresh: true,
  });
  const listed = s.sandbox.state('acme').skills.slice(0, 1);
  const body = listed.map(({ id, name }) => ({ _id: id, accountId: '42', name }));
  s.sandbox.setFaults([{ ...EMPTY_SKILLS, do: { type: 'status', status: 200, body } }]);
  expect((await s.apply()).run.status).toBe('blocked');
  expect(s.writes()).toEqual([]);
  s.sandbox.setFaults([]);
  expect((await s.apply()).run).toMatchObject({ status: 'converged', created: 1 });
});

test('lists that turn empty right before the deletes stop them, although people have what is missing', async () => {
  const s = await scene({
    skills: ['Go', 'Old 1', 'Old 2'],
    resources: [{ id: 'ann', skills: ['Go'] }],
    file: 'skills: [Go]',
  });
  await s.run(['plan']);
  s.sandbox.setFaults([{ ...EMPTY_SKILLS, skip: 1, times: 2 }]);
  const { run } = await s.apply();
  expect([run.status, run.deleted, s.writes()]).toEqual(['partial', 0, []]);
  expect(run.operations.map(({ status }) => status)).toEqual(['skipped', 'skipped']);
  expect(JSON.stringify(run)).not.toContain('confirmed the delete');
  expect((await s.apply()).run).toMatchObject({ status: 'converged', deleted: 2 });
});

test('the first create in an empty account is sent alone, and the others after a list shows it', async () => {
  const s = await scene({
    file: `skills: ${JSON.stringify(SIXTY_ONE.slice(0, 9))}\nroles: [Designer, Lead, Welder]`,
    isFresh: true,
  });
  const { result, run } = await s.apply();
  expect([result.status, run]).toMatchObject([0, { status: 'converged', created: 12 }]);
  const order = s.sandbox.requests().map(({ method, path }) => `${method} ${path.split('/').at(-1) ?? ''}`);
  const creates = order.flatMap((each, index) => (each === 'POST skill' ? [index] : []));
  expect(order.slice((creates[0] ?? 0) + 1, creates[1])).toContain('GET skill');
});

test('an _id that is listed under two names causes no create', async () => {
  const s = await scene({ file: 'skills: [Kubernetes, Go]' });
  const body = [
    { _id: 's1', accountId: '42', name: 'K8s' },
    { _id: 's1', accountId: '42', name: 'Kubernetes' },
    { _id: 's2', accountId: '42', name: 'Go' },
  ];
  s.sandbox.setFaults([{ ...EMPTY_SKILLS, do: { type: 'status', status: 200, body } }]);
  const { result, run, plan } = await s.apply();
  expect([result.status, run.status, s.writes()]).toEqual([0, 'converged', []]);
  expect(codes(plan)).toEqual(['no_history', 'repeated_id', 'several_names']);
  const [printed] = JSON.parse((await s.run(['plan', '--format', 'json'])).stdout) as Plan[];
  expect(printed?.operations).toEqual([]);
});
