// A store without data of an account, as on a hosted CI runner: which deletes and creates are allowed.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { QUICK, codes, changesOf, holds, scene, TOKEN, tokenVariable } from '../support/scene.ts';
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
  expect(holds(plan)).toEqual({ Kubernetes: ['no_evidence'] });
  expect(codes(plan)).toContain('no_history');
});

test('a first apply holds deletes and creates what is missing; the next one deletes', async () => {
  const s = await scene({ skills: ['Go', 'Perl'], file: 'skills: [Go, Zig]', isFresh: true });
  const first = await s.apply();
  expect([first.result.status, s.writes()]).toEqual([3, ['POST Zig']]);
  expect(holds(first.plan)).toEqual({ Perl: ['no_evidence'] });
  const second = await s.apply();
  expect([second.result.status, s.writes()]).toEqual([0, ['POST Zig', 'DELETE Perl']]);
  expect(codes(second.plan)).not.toContain('no_history');
});

test('a dry run on the same store or --accept no_evidence allows a first apply to delete', async () => {
  const s = await scene({ skills: ['Go', 'Perl'], file: 'skills: [Go]', isFresh: true });
  expect(holds((await s.plan()).plan)).toEqual({ Perl: ['no_evidence'] });
  expect(changesOf((await s.plan()).plan)).toEqual(['delete Perl']);
  const other = await scene({ skills: ['Go', 'Perl'], file: 'skills: [Go]', isFresh: true });
  const accepted = await other.apply('--accept', 'no_evidence');
  expect([accepted.result.status, other.writes()]).toEqual([0, ['DELETE Perl']]);
});

test('a saved first plan is applied as it was saved, and is stale once the account changed', async () => {
  const s = await scene({ skills: ['Go', 'Perl'], file: 'skills: [Go, Zig]', isFresh: true });
  await s.run(['plan', '--save', 'plan.json']);
  expect((await s.run(['apply', '--plan', 'plan.json'])).status).toBe(3);
  expect(s.writes()).toEqual(['POST Zig']);

  const other = await scene({ skills: ['Go', 'Perl'], file: 'skills: [Go, Zig]', isFresh: true });
  await other.run(['plan', '--save', 'plan.json']);
  other.sandbox.addSkill('acme', 'Fortran');
  expect((await other.run(['apply', '--plan', 'plan.json'])).status).toBe(5);
  expect(other.writes()).toEqual([]);
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
    api: QUICK,
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

test('on a fresh store, lists that lack entries of people block all writes; --accept suspicious_list allows the first create', async () => {
  const s = await scene({
    api: QUICK,
    ...TWO_HAVE_IT,
    file: 'skills: [Go, Zig]',
    faults: [EMPTY_SKILLS],
    isFresh: true,
  });
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
  expect((await s.apply('--accept', 'suspicious_list')).run.status).toBe('blocked');
  expect(s.writes()).toEqual(['POST Go']);
});
