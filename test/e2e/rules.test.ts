// The rules that check one entry: what can happen to an entry that the file does not list.
import { expect, test } from 'vitest';
import { codes, day, changesOf, holds, hoursAgo, leaves, scene } from '../support/scene.ts';

test('ownership: managed deletes only what rolecall created or adopted', async () => {
  const s = await scene({
    skills: ['Kept', 'Stranger'],
    file: 'skills: [Kept, New]\npolicy: { ownership: managed, maxDeletePercent: 100 }',
  });
  const first = await s.plan();
  expect(leaves(first.plan)).toEqual({ Stranger: 'unmanaged' });
  expect(changesOf(first.plan)).toEqual(['create New']);
  expect(first.plan.summary).toMatchObject({ leave: 1, hold: 0 });
  const applied = await s.apply();
  expect(applied.result.status).toBe(0);
  expect(applied.run.status).toBe('converged');

  s.configure('skills: [Other]\npolicy: { ownership: managed }');
  expect((await s.apply()).run).toMatchObject({ status: 'converged', created: 1, deleted: 2 });
  expect(s.names().skills).toEqual(['Other', 'Stranger']);
});

test('protect keeps the names that its case-sensitive globs match, in addition to those of the defaults', async () => {
  const s = await scene({
    skills: ['Admin/x', 'admin', 'Literal*', 'Literal!', 'Q1', 'Q12', 'Kept'],
    service: 'defaults: { policy: { protect: ["Q?"] } }',
    file: 'skills: [Kept]\npolicy: { protect: ["Admin*", "Literal\\\\*"] }',
  });
  const { plan } = await s.plan();
  expect(leaves(plan)).toEqual({ 'Admin/x': 'protected', 'Literal*': 'protected', Q1: 'protected' });
  expect(changesOf(plan)).toEqual(['delete Literal!', 'delete Q12', 'delete admin']);
});

test('with delete: never nothing is deleted, even with an approval', async () => {
  const s = await scene({
    skills: ['Old', 'Kept'],
    file: 'skills: [Kept]\npolicy: { delete: never }\napprovedDeletes: [{ kind: skill, name: Old, expires: 2999-12-31 }]',
  });
  const { plan } = await s.plan();
  expect(leaves(plan)).toEqual({ Old: 'never_delete' });
  const { result, run } = await s.apply();
  expect(result.status).toBe(0);
  expect(run).toMatchObject({ status: 'converged', deleted: 0 });
  expect(s.names().skills).toEqual(['Kept', 'Old']);
});

test('of several entries with one name the most used is kept, and the others are only reported', async () => {
  const s = await scene({
    skills: [
      { name: 'Go', id: 'a' },
      { name: 'Go', id: 'b' },
    ],
    roles: [
      { name: 'Dev', id: 'y', createDate: '2021-01-01T00:00:00Z' },
      { name: 'Dev', id: 'z', createDate: '2020-01-01T00:00:00Z' },
      { name: 'Ops', id: 'm', createDate: '2020-01-01T00:00:00Z' },
      { name: 'Ops', id: 'n', createDate: '2020-01-01T00:00:00Z' },
    ],
    resources: [{ id: 'r1', skillsIds: ['b'] }],
    file: 'skills: [Go]\nroles: [Dev, Ops]',
  });
  const { plan, result } = await s.plan('--detailed-exitcode');
  expect(result.status).toBe(0);
  expect(plan.leftAlone.map(({ remoteId, rule }) => [remoteId, rule])).toEqual([
    ['a', 'duplicate'],
    ['y', 'duplicate'],
    ['n', 'duplicate'],
  ]);
  expect(plan.summary).toMatchObject({ keep: 3, leave: 3, delete: 0, hold: 0 });
  expect(codes(plan)).toContain('duplicate');
});

test('duplicates: remove-unused deletes unused duplicates and leaves the others alone', async () => {
  const s = await scene({
    skills: ['a', 'b', 'c'].map((id) => ({ name: 'Go', id })),
    resources: [
      { id: 'r1', skillsIds: ['b', 'a'] },
      { id: 'r2', skillsIds: ['b'] },
    ],
    file: 'skills: [Go]\npolicy: { duplicates: remove-unused }',
  });
  const { run } = await s.apply();
  expect(run.status).toBe('converged');
  expect(run.plan?.leftAlone).toMatchObject([{ remoteId: 'a', rule: 'duplicate' }]);
  expect(s.sandbox.state('acme').skills.map(({ id }) => id)).toEqual(['a', 'b']);
});

test('a delete of an entry that people have is held, and is applied a day after the last one had it', async () => {
  const s = await scene({
    skills: ['Perl', 'Kept'],
    resources: [
      { id: 'r2', skills: ['Perl'] },
      { id: 'r1', skills: ['Perl', 'Kept'] },
    ],
    file: 'skills: [Kept]',
  });
  const planned = await s.plan('--detailed-exitcode');
  expect(planned.result.status).toBe(3);
  expect(planned.plan.held).toMatchObject([
    { action: 'delete', kind: 'skill', name: 'Perl', usedBy: ['r1', 'r2'], rules: ['in_use'] },
  ]);
  expect(planned.plan.held[0]?.release).toMatch(/approvedDeletes/);

  const held = await s.apply();
  expect(held.result.status).toBe(3);
  expect(held.run).toMatchObject({ status: 'held', held: 1, deleted: 0 });
  expect((await s.apply('--allow-held')).result.status).toBe(0);

  const perl = s.idOf('Perl');
  s.sandbox.unassign('acme', 'r1', perl);
  s.sandbox.unassign('acme', 'r2', perl);
  expect(holds((await s.apply()).plan)).toEqual({ Perl: ['too_new'] });
  s.execute('update entries set last_used_at = ? where name = ?', hoursAgo(24), 'Perl');
  const gone = await s.apply();
  expect(gone.result.status).toBe(0);
  expect(gone.run).toMatchObject({ status: 'converged', deleted: 1 });
  expect(s.names().skills).toEqual(['Kept']);
});

test('an approval releases the delete that it names until the end of its last day, and no other', async () => {
  const s = await scene({
    skills: ['Perl', 'Cobol', 'Kept'],
    resources: [{ id: 'r1', skills: ['Perl', 'Cobol'] }],
    file: [
      'skills: [Kept]',
      'approvedDeletes:',
      `  - { kind: skill, name: Perl, expires: ${day(0)} }`,
      `  - { kind: skill, name: Cobol, expires: ${day(-1)} }`,
      `  - { kind: skill, name: Nothing, expires: ${day(0)} }`,
    ].join('\n'),
  });
  const { plan } = await s.plan();
  expect(plan.operations).toMatchObject([{ action: 'delete', name: 'Perl', usedBy: ['r1'] }]);
  expect(holds(plan)).toEqual({ Cobol: ['in_use'] });
  expect(codes(plan)).toEqual(expect.arrayContaining(['approval_expired', 'approval_unused']));
});

test('a declared rename creates the new name first and keeps the old one until the last person has moved', async () => {
  const s = await scene({
    skills: ['K8s'],
    resources: [{ id: 'r1', skills: ['K8s'] }],
    file: 'skills: [{ name: Kubernetes, formerly: [K8s] }]\npolicy: { delete: always, unusedFor: 0s }',
  });
  const { run } = await s.apply();
  expect(run.status).toBe('held');
  expect(run.plan?.held).toMatchObject([{ name: 'K8s', rules: ['rename'], usedBy: ['r1'] }]);
  expect(s.names().skills).toEqual(['K8s', 'Kubernetes']);

  s.sandbox.assign('acme', 'r1', s.idOf('Kubernetes'));
  s.sandbox.unassign('acme', 'r1', s.idOf('K8s'));
  expect((await s.apply()).run).toMatchObject({ status: 'converged', deleted: 1 });
  expect(s.names().skills).toEqual(['Kubernetes']);
});

test('a used name that differs only in case, white space, diacritics or form is held as a suspected rename', async () => {
  const old = ['typescript', 'Data Base', 'Résumé', 'Ｃ＋＋'];
  const s = await scene({
    skills: old,
    resources: [{ id: 'r1', skills: old }],
    file: 'skills: [TypeScript, DataBase, Resume, C++]\npolicy: { delete: always }',
  });
  const { plan } = await s.plan();
  expect(holds(plan)).toEqual(Object.fromEntries(old.map((name) => [name, ['suspected_rename']])));
  expect(changesOf(plan)).toEqual(['create C++', 'create DataBase', 'create Resume', 'create TypeScript']);
});

test('unusedFor holds the delete of an entry until that long after somebody had it', async () => {
  const s = await scene({
    skills: ['Old', 'Unused', 'Kept'],
    file: 'skills: [Kept]\npolicy: { unusedFor: 1h, maxDeletes: 1 }',
  });
  await s.plan();
  s.execute('update entries set last_used_at = ? where name = ?', hoursAgo(0.9), 'Old');
  const { run } = await s.apply();
  expect(run.plan?.held).toMatchObject([{ name: 'Old', rules: ['too_new'] }]);
  expect(s.writes()).toEqual(['DELETE Unused']);
  expect((await s.apply()).run.status).toBe('held');
  s.execute('update entries set last_used_at = ? where name = ?', hoursAgo(1.1), 'Old');
  expect((await s.apply()).run).toMatchObject({ status: 'converged', deleted: 1 });
});

test('an assignment restarts the time that unusedFor counts', async () => {
  const s = await scene({
    skills: ['Old', 'Kept'],
    resources: [{ id: 'r1' }, { id: 'r2', skills: ['Kept'] }],
    file: 'skills: [Kept, Old]\npolicy: { unusedFor: 1h }',
  });
  await s.plan();
  s.execute('update entries set last_used_at = ? where name = ?', hoursAgo(2), 'Old');
  s.configure('skills: [Kept]\npolicy: { unusedFor: 1h }');
  s.sandbox.assign('acme', 'r1', s.idOf('Old'));
  expect(holds((await s.apply()).plan)).toEqual({ Old: ['in_use'] });
  s.sandbox.unassign('acme', 'r1', s.idOf('Old'));
  expect(holds((await s.apply()).plan)).toEqual({ Old: ['too_new'] });
});

test('the entries of a person who disappeared from the list count as used for 24 hours', async () => {
  const s = await scene({
    skills: ['Perl', 'Kept'],
    resources: [
      { id: 'r1', skills: ['Perl'] },
      { id: 'r2', skills: ['Kept'] },
    ],
    file: 'skills: [Kept]\npolicy: { unusedFor: 0s }',
  });
  await s.apply();
  s.sandbox.removeResource('acme', 'r1');
  const { run } = await s.apply();
  expect(run.status).toBe('held');
  expect(run.plan?.held).toMatchObject([{ name: 'Perl', rules: ['holders_missing'] }]);
  expect(run.plan?.held[0]?.reason).toContain('r1');

  s.execute('update missing_holdings set since = ?', hoursAgo(23));
  expect((await s.apply()).run.status).toBe('held');
  s.execute('update missing_holdings set since = ?', hoursAgo(25));
  expect((await s.apply()).run).toMatchObject({ status: 'converged', deleted: 1 });
});

test('a missing skillsIds or role of a person counts as unchanged until the list contains it again', async () => {
  const s = await scene({
    skills: ['Perl', 'Kept'],
    roles: ['Dev', 'Ops'],
    resources: [
      { id: 'r1', skills: ['Perl'], role: 'Ops' },
      { id: 'r2', skills: ['Kept'], role: 'Dev' },
    ],
    file: 'skills: [Kept]\nroles: [Dev]\npolicy: { unusedFor: 0s }',
  });
  await s.apply();
  s.sandbox.unassign('acme', 'r1', s.idOf('Perl'));
  s.sandbox.unassign('acme', 'r1', s.idOf('Ops'));
  s.sandbox.setSettings({ omitOptionalFields: true });
  expect(holds((await s.apply()).plan)).toEqual({ Perl: ['holders_missing'], Ops: ['holders_missing'] });
  s.sandbox.setSettings({ omitOptionalFields: false });
  expect((await s.apply()).run).toMatchObject({ status: 'converged', deleted: 2 });
});

test('an open freeze window holds creates and deletes alike', async () => {
  const s = await scene({
    skills: ['Old'],
    file: `skills: [New]\npolicy: { maxDeletePercent: 100, freeze: [{ from: ${day(-2)}, to: ${day(0)} }] }`,
  });
  const { result, run, plan } = await s.apply();
  expect(result.status).toBe(3);
  expect(run.status).toBe('held');
  expect(holds(plan)).toEqual({ New: ['freeze'], Old: ['freeze'] });
  expect(s.writes()).toEqual([]);

  s.configure(
    `skills: [New]\npolicy: { freeze: [{ from: ${day(-3)}, to: ${day(-1)} }, { from: ${day(1)}, to: ${day(2)} }] }`,
  );
  expect((await s.apply()).run.status).toBe('converged');
});

test('a freeze window opens at each tick of its cron expression, and windows of the defaults apply too', async () => {
  const s = await scene({
    service: 'defaults: { policy: { freeze: [{ cron: "* * * * *", for: 2m }] } }',
    file: `skills: [New]\npolicy: { freeze: [{ from: ${day(-3)}, to: ${day(-2)} }] }`,
  });
  expect(holds((await s.plan()).plan)).toEqual({ New: ['freeze'] });
  const elsewhere = ((new Date().getUTCMonth() + 6) % 12) + 1;
  s.serve({}, `defaults: { policy: { freeze: [{ cron: "0 0 1 ${elsewhere} *", for: 1h }] } }`);
  expect(changesOf((await s.plan()).plan)).toEqual(['create New']);
});

test('an entry that was created three times within a day and disappeared again is not created a fourth time', async () => {
  const s = await scene({ skills: ['Kept'], file: 'skills: [Kept, Fought]' });
  for (let round = 0; round < 3; round += 1) {
    expect((await s.apply()).run).toMatchObject({ status: 'converged', created: 1 });
    s.sandbox.removeEntry('acme', s.idOf('Fought'));
  }
  const { result, run } = await s.apply();
  expect(result.status).toBe(3);
  expect(run.plan?.held).toMatchObject([
    { action: 'create', name: 'Fought', rules: ['flapping'], remoteId: null },
  ]);
  expect(s.names().skills).toEqual(['Kept']);

  s.execute("update operations set finished_at = ? where action = 'create'", hoursAgo(25));
  expect((await s.apply()).run).toMatchObject({ status: 'converged', created: 1 });
});

test('an entry that was deleted three times within a day and exists again is held', async () => {
  const s = await scene({ skills: ['Kept', 'Fought'], file: 'skills: [Kept]' });
  for (let round = 0; round < 3; round += 1) {
    expect((await s.apply()).run).toMatchObject({ status: 'converged', deleted: 1 });
    s.sandbox.addSkill('acme', 'Fought');
  }
  const { run, plan } = await s.apply();
  expect(run.status).toBe('held');
  expect(holds(plan)).toEqual({ Fought: ['flapping'] });
  s.execute("update operations set finished_at = ? where action = 'delete'", hoursAgo(25));
  expect((await s.apply()).run).toMatchObject({ status: 'converged', deleted: 1 });
});
