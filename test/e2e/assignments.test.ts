// What people have, judged by several lists and by the journal: one list of people is no evidence.
import { expect, test } from 'vitest';
import { codes, holds, scene, type Scene } from '../support/scene.ts';

/** A list of people that the service returns instead of its own. */
function peopleListed(
  s: Scene,
  people: readonly Readonly<Record<string, unknown>>[],
  times: number | 'always' = 'always',
): void {
  const body = people.map((fields) => ({
    accountId: '42',
    workingDays: [0],
    dailyCapacity: 8,
    ...fields,
  }));
  s.sandbox.setFaults([
    { match: { method: 'GET', path: 'resource' }, times, do: { type: 'status', status: 200, body } },
  ]);
}

const SKILLS = Array.from({ length: 8 }, (_, index) => `S${index}`);

/** Forty people, eight entries that are not in the file, and `Kept`. */
function crowd(file: string, more: object = {}): Promise<Scene> {
  const resources = Array.from({ length: 40 }, (_, index) => ({
    id: `p${index}`,
    skills: index < 16 ? [SKILLS[index % 8] ?? ''] : ['Kept'],
  }));
  return scene({ skills: [...SKILLS, 'Kept'], resources, file, ...more });
}

test('entries that people had in the last lists are not deleted for 24 hours, however many lists lack them', async () => {
  const s = await crowd('skills: [Kept]');
  expect(new Set(Object.values(holds((await s.apply()).plan)).flat())).toEqual(new Set(['in_use']));
  for (const index of Array.from({ length: 9 }, (_, at) => at)) {
    s.sandbox.unassign('acme', `p${index}`, s.idOf(SKILLS[index % 8] ?? ''));
  }
  const { run, plan, result } = await s.apply();
  expect([result.status, run.status, s.writes()]).toEqual([3, 'held', []]);
  expect(holds(plan)).toMatchObject({ S0: ['in_use'], S1: ['in_use'], S7: ['in_use'] });
  s.execute("update entries set last_used_at = '2026-01-01T00:00:00.000Z' where name = 'S0'");
  expect((await s.apply()).run).toMatchObject({ status: 'held', deleted: 1 });
  expect(s.writes()).toEqual(['DELETE S0']);
});

test.each([
  ['nobody has any skill', { skillsIds: [], roleId: null }, 'suspicious_list'],
  ['everybody lacks the field', { roleId: null }, 'no_evidence'],
])('deletes are held while %s, until that is accepted', async (_, fields, accept) => {
  const s = await scene({
    skills: ['Old', 'Kept'],
    resources: [{ id: 'ann', skills: ['Old'] }, { id: 'bob' }],
    file: 'skills: [Kept]\npolicy: { unusedFor: 0s }',
    isFresh: true,
  });
  await s.plan();
  peopleListed(s, [
    { _id: 'ann', ...fields },
    { _id: 'bob', ...fields },
  ]);
  for (let round = 0; round < 3; round += 1) {
    const { run, plan } = await s.apply();
    expect([run.status, s.writes()]).toEqual(['held', []]);
    expect(holds(plan)['Old']).toContain('no_evidence');
    expect(codes(plan)).toContain('unknown_holders');
  }
  await s.apply('--accept', accept);
  expect(s.writes()).toEqual(['DELETE Old']);
});

test('deletes are held on a new store while everybody lacks the field that shows who has what', async () => {
  const s = await scene({ skills: ['Old', 'Kept'], file: 'skills: [Kept]', isFresh: true });
  peopleListed(s, [{ _id: 'ann', roleId: null }]);
  for (const args of [['--accept', 'no_evidence'], []]) {
    const { run, plan } = await s.apply(...args);
    expect([run.status, holds(plan), s.writes()]).toEqual(['held', { Old: ['no_evidence'] }, []]);
  }
  s.configure('skills: [Kept]\npolicy: { allowNoPeople: true }');
  expect(holds((await s.apply()).plan)).toEqual({ Old: ['no_evidence'] });
  expect((await s.apply('--accept', 'suspicious_list')).run).toMatchObject({
    status: 'converged',
    deleted: 1,
  });
});
