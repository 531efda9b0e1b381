// The guards that check a complete plan: how many deletes, of which entries, and after which creates.
import { expect, test } from 'vitest';
import { changesOf, holds, hoursAgo, scene } from '../support/scene.ts';

const names = (count: number, prefix = 'Old'): string[] =>
  Array.from({ length: count }, (_, i) => `${prefix} ${i}`);
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
  expect(holds(plan)).toEqual(every(['A', 'B', 'C'], 'max_deletes'));
  expect(s.names()).toEqual({ skills: ['A', 'B', 'New'], roles: ['C', 'Fresh'] });
  s.configure('skills: [New]\nroles: [Fresh]\npolicy: { maxDeletes: 3 }');
  expect((await s.apply()).run).toMatchObject({ status: 'converged', deleted: 3 });
});

test('deletes that another rule holds do not count against maxDeletes', async () => {
  const s = await scene({
    skills: ['A', 'B', 'Used'],
    resources: [{ id: 'r1', skills: ['Used'] }],
    file: 'skills: [Kept]\npolicy: { maxDeletes: 2 }',
  });
  const { plan } = await s.plan();
  expect(changesOf(plan)).toEqual(['create Kept', 'delete A', 'delete B']);
  expect(holds(plan)).toEqual({ Used: ['in_use'] });
});

test('an approval does not release a delete that maxDeletes holds', async () => {
  const s = await scene({
    skills: ['A', 'B'],
    resources: [{ id: 'r1', skills: ['A'] }],
    file: 'skills: [Kept]\npolicy: { maxDeletes: 1 }\napprovedDeletes: [{ kind: skill, name: A, expires: 2999-12-31 }]',
  });
  expect(holds((await s.plan()).plan)).toEqual(every(['A', 'B'], 'max_deletes'));
});

test('maxDeletesPerDay counts the deletes in the journal within 24 hours', async () => {
  const policy = 'policy: { maxDeletesPerDay: 2 }';
  const s = await scene({ skills: ['A', 'B', 'Kept'], file: `skills: [Kept]\n${policy}` });
  expect((await s.apply()).run).toMatchObject({ status: 'converged', deleted: 2 });
  s.sandbox.addSkill('acme', 'C');
  const { run, plan } = await s.apply();
  expect(run.status).toBe('held');
  expect(holds(plan)).toEqual({ C: ['max_deletes_per_day'] });
  s.execute('update operations set finished_at = ?', hoursAgo(25));
  expect((await s.apply()).run).toMatchObject({ status: 'converged', deleted: 1 });
});

test('with more deletes of a kind than maxDeletePercent those are held, and deletes of the other kind run', async () => {
  const s = await scene({
    skills: [...names(4), ...names(6, 'Kept')],
    roles: ['Gone', 'Dev'],
    file: `skills: [${names(6, 'Kept').join(', ')}]\nroles: [Dev]`,
  });
  const { run, plan } = await s.apply();
  expect(run).toMatchObject({ status: 'held', deleted: 1 });
  expect(holds(plan)).toEqual(every(names(4), 'max_delete_percent'));
  expect(s.names().roles).toEqual(['Dev']);
});

test('exactly maxDeletePercent of the entries can be deleted, and below ten entries the limit does not apply', async () => {
  const s = await scene({
    skills: [...names(3), ...names(7, 'Kept')],
    roles: names(8, 'Gone').concat('Dev'),
    file: `skills: [${names(7, 'Kept').join(', ')}]\nroles: [Dev]\npolicy: { maxDeletes: 20 }`,
  });
  const { plan } = await s.plan();
  expect(plan.summary).toMatchObject({ delete: 11, hold: 0 });
});

test('an empty list deletes nothing without allowEmpty, and a kind that the file does not list is not touched', async () => {
  const s = await scene({ skills: ['A'], roles: ['Dev'], file: 'skills: []' });
  const { result, plan } = await s.plan('--detailed-exitcode');
  expect(result.status).toBe(3);
  expect(holds(plan)).toEqual({ A: ['empty_catalog'] });
  expect(JSON.stringify(plan)).not.toContain('Dev');
  s.configure('skills: []\npolicy: { allowEmpty: true }');
  expect((await s.apply()).run).toMatchObject({ status: 'converged', deleted: 1 });
  expect(s.names()).toEqual({ skills: [], roles: ['Dev'] });
});

test('a failed create stops the deletes of its kind in that run, and not those of the other kind', async () => {
  const s = await scene({
    skills: ['Old skill'],
    roles: ['Old role'],
    file: 'skills: [Fine, Refused]\nroles: [Dev]',
    faults: [{ match: { name: 'Refused' }, do: { type: 'status', status: 422 } }],
  });
  const { result, run } = await s.apply();
  expect(result.status).toBe(1);
  expect(run).toMatchObject({ status: 'partial', created: 2, deleted: 1, failed: 1 });
  const outcomes = Object.fromEntries(run.operations.map(({ name, status, rule }) => [name, [status, rule]]));
  expect(outcomes).toMatchObject({
    Refused: ['failed', null],
    Fine: ['done', null],
    'Old skill': ['held', 'failed_creates'],
    'Old role': ['done', null],
  });
  expect(s.names()).toEqual({ skills: ['Fine', 'Old skill'], roles: ['Dev'] });
  expect((await s.apply()).run).toMatchObject({ status: 'converged', created: 1, deleted: 1 });
});

test('a rejected create is reported with its reason and its near duplicate when names are unique', async () => {
  const s = await scene({
    skills: ['typescript'],
    file: 'skills: [TypeScript]',
    settings: { uniqueNames: 'caseless' },
  });
  const { result, run } = await s.apply();
  expect(result.status).toBe(1);
  const [create] = run.operations;
  expect(create).toMatchObject({ name: 'TypeScript', status: 'failed', httpStatus: 409 });
  expect(create?.reason).toMatch(/"typescript".*approvedDeletes/);
  expect(s.names().skills).toEqual(['typescript']);

  s.configure(
    'skills: [TypeScript]\napprovedDeletes: [{ kind: skill, name: typescript, expires: 2999-12-31 }]',
  );
  expect((await s.apply()).run.status).toBe('converged');
  expect(s.names().skills).toEqual(['TypeScript']);
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
