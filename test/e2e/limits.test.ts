// The guards that check a complete plan: how many deletes, of which entries, and after which creates.
import { expect, test } from 'vitest';
import { codes, day, holds, hoursAgo, scene } from '../support/scene.ts';

const every = (list: readonly string[], ...rules: string[]) =>
  Object.fromEntries(list.map((name) => [name, rules]));

test('with more deletes than maxDeletes every delete of both kinds is held, and creates still run', async () => {
  const s = await scene({
    skills: ['A', 'B'],
    roles: ['C'],
    file: 'skills: [New]\nroles: [Fresh]\npolicy: { maxDeletes: 2 }',
  });
  const { result, run, plan } = await s.apply();
  expect(result.status).toBe(3);
  expect(run).toMatchObject({ status: 'held', created: 2, deleted: 0, held: 3 });
  expect(holds(plan)).toEqual(every(['A', 'B', 'C'], 'too_many'));
  expect(s.names()).toEqual({ skills: ['A', 'B', 'New'], roles: ['C', 'Fresh'] });
  s.configure('skills: [New]\nroles: [Fresh]\npolicy: { maxDeletes: 3 }');
  expect((await s.apply()).run).toMatchObject({ status: 'converged', deleted: 3 });
});

test('maxDeletes counts the deletes in the journal within 24 hours', async () => {
  const policy = 'policy: { maxDeletes: 2 }';
  const s = await scene({ skills: ['A', 'B', 'Kept'], file: `skills: [Kept]\n${policy}` });
  expect((await s.apply()).run).toMatchObject({ status: 'converged', deleted: 2 });
  s.sandbox.addSkill('acme', 'C');
  const { run, plan } = await s.apply();
  expect(run.status).toBe('held');
  expect(holds(plan)).toEqual({ C: ['too_many'] });
  s.execute('update operations set finished_at = ?', hoursAgo(25));
  expect((await s.apply()).run).toMatchObject({ status: 'converged', deleted: 1 });
});

test('a line with atMost releases the limits for one run, from a catalog too, and is used up', async () => {
  const s = await scene({
    skills: ['A', 'B', 'C', 'Kept'],
    file: 'extends: [../catalogs/shared.yaml]\nskills: [Kept]\npolicy: { maxDeletes: 1 }',
  });
  s.write('config/catalogs/shared.yaml', `allowedDeletes: [{ atMost: 2, expires: ${day(0)} }]`);
  expect(holds((await s.apply()).plan)).toEqual(every(['A', 'B', 'C'], 'too_many'));
  s.write('config/catalogs/shared.yaml', `allowedDeletes: [{ atMost: 3, expires: ${day(0)} }]`);
  const released = await s.apply();
  expect(released.run).toMatchObject({ status: 'converged', deleted: 3 });
  expect(codes(released.plan)).toContain('limit_released');
  s.sandbox.addSkill('acme', 'D');
  s.sandbox.addSkill('acme', 'E');
  const after = await s.apply();
  expect([holds(after.plan), codes(after.plan)]).toEqual([
    every(['D', 'E'], 'too_many'),
    ['allowed_delete_used'],
  ]);
});

test('a failed create stops the deletes of its kind and nothing else, and the run exits 1, even with --allow-held', async () => {
  const s = await scene({
    skills: ['Old skill'],
    roles: ['Old role'],
    file: 'skills: [Fine, Refused]\nroles: [Dev]',
    faults: [{ match: { name: 'Refused' }, do: { type: 'status', status: 422 } }],
  });
  const { result, run } = await s.apply('--allow-held');
  expect(result.status).toBe(1);
  expect(run).toMatchObject({ status: 'partial', created: 2, deleted: 1, held: 1, failed: 1 });
  const outcomes = Object.fromEntries(run.operations.map(({ name, status, rule }) => [name, [status, rule]]));
  expect(outcomes).toMatchObject({
    Refused: ['failed', null],
    Fine: ['done', null],
    'Old skill': ['held', 'failed_creates'],
    'Old role': ['done', null],
  });
  const held = run.operations.find(({ name }) => name === 'Old skill');
  expect(held?.reason).toContain('a create of a skill did not succeed');
  expect(s.names()).toEqual({ skills: ['Fine', 'Old skill'], roles: ['Dev'] });
  expect((await s.apply()).run).toMatchObject({ status: 'converged', created: 1, deleted: 1 });
});

test('the lists are read again before the first delete, and entries that were assigned or renamed meanwhile are held', async () => {
  const s = await scene({
    skills: ['Given', 'Renamed', 'Gone', 'Plain'],
    resources: [{ id: 'r1' }],
    file: 'skills: [New]',
    faults: [{ match: { method: 'POST', name: 'New' }, do: { type: 'latency', ms: 1000 } }],
    api: { timeout: '5s', settle: '6s' },
  });
  const ids = Object.fromEntries(['Given', 'Renamed', 'Gone'].map((name) => [name, s.idOf(name)]));
  const running = s.apply();
  await s.until('the create is under way', () =>
    s.sandbox.requests().some(({ method }) => method === 'POST'),
  );
  s.sandbox.assign('acme', 'r1', ids['Given'] ?? '');
  s.sandbox.renameEntry('acme', ids['Renamed'] ?? '', 'Renamed by hand');
  s.sandbox.removeEntry('acme', ids['Gone'] ?? '');
  const { run } = await running;
  const outcomes = Object.fromEntries(run.operations.map(({ name, status, rule }) => [name, [status, rule]]));
  expect(outcomes).toEqual({
    New: ['done', null],
    Given: ['held', 'in_use'],
    Renamed: ['held', 'rename'],
    Gone: ['done', null],
    Plain: ['done', null],
  });
  expect(run.status).toBe('held');
  expect(s.writes()).toEqual(['POST New', 'DELETE Plain']);
});
