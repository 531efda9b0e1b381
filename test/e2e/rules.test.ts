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
  expect(planned.plan.held[0]?.release).toMatch(/allowedDeletes/);

  const held = await s.apply();
  expect(held.result.status).toBe(3);
  expect(held.run).toMatchObject({ status: 'held', held: 1, deleted: 0 });
  expect((await s.apply('--allow-held')).result.status).toBe(0);

  const perl = s.idOf('Perl');
  s.sandbox.unassign('acme', 'r1', perl);
  s.sandbox.unassign('acme', 'r2', perl);
  expect(holds((await s.apply()).plan)).toEqual({ Perl: ['in_use'] });
  s.execute('update entries set last_used_at = ? where name = ?', hoursAgo(24), 'Perl');
  const gone = await s.apply();
  expect(gone.result.status).toBe(0);
  expect(gone.run).toMatchObject({ status: 'converged', deleted: 1 });
  expect(s.names().skills).toEqual(['Kept']);
});

test('a line of allowedDeletes releases the delete that it names until the end of its last day, and no other', async () => {
  const s = await scene({
    skills: ['Perl', 'Cobol', 'Kept'],
    resources: [{ id: 'r1', skills: ['Perl', 'Cobol'] }],
    file: [
      'skills: [Kept]',
      'allowedDeletes:',
      `  - { kind: skill, name: Perl, expires: ${day(0)} }`,
      `  - { kind: skill, name: Cobol, expires: ${day(-1)} }`,
      `  - { kind: skill, name: Nothing, expires: ${day(0)} }`,
    ].join('\n'),
  });
  const { plan } = await s.plan();
  expect(plan.operations).toMatchObject([{ action: 'delete', name: 'Perl', usedBy: ['r1'] }]);
  expect(holds(plan)).toEqual({ Cobol: ['in_use'] });
  expect(codes(plan)).toEqual(expect.arrayContaining(['allowed_delete_expired', 'allowed_delete_unused']));
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

test('the entries of a person who disappeared from the list count as used for 24 hours', async () => {
  const s = await scene({
    skills: ['Perl', 'Kept'],
    resources: [
      { id: 'r1', skills: ['Perl'] },
      { id: 'r2', skills: ['Kept'] },
    ],
    file: 'skills: [Kept]',
  });
  await s.apply();
  // The account last ran long ago.
  s.execute('update entries set last_used_at = ?', hoursAgo(100));
  s.sandbox.removeResource('acme', 'r1');
  const { run } = await s.apply();
  expect(run.status).toBe('held');
  expect(run.plan?.held).toMatchObject([{ name: 'Perl', rules: ['in_use'] }]);
  expect(run.plan?.held[0]?.reason).toContain('a person who had it');

  expect((await s.apply()).run.status).toBe('held');
  s.execute('update entries set last_used_at = ?', hoursAgo(25));
  expect((await s.apply()).run).toMatchObject({ status: 'converged', deleted: 1 });
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
