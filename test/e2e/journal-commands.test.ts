// The commands that read the store: status, snapshots, diff, who, restore and show.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { changesOf, day, hoursAgo, type Scene, scene } from '../support/scene.ts';
import { costly } from '../support/thorough.ts';

const ALWAYS = 'policy: { delete: always, maxDeletePercent: 100 }';

/** What a command prints as JSON. */
async function json<T>(s: Scene, ...args: string[]): Promise<T> {
  const { stdout } = await s.run([...args, '--format', 'json']);
  return JSON.parse(stdout) as T;
}

/** An account whose run deleted entries, one of which two people had. */
async function afterDeletes(): Promise<Scene> {
  const s = await scene({
    skills: ['Perl', '1.0', 'C #', ' lead', '=SUM(A1)', 'Kept'],
    roles: ['Old role'],
    resources: [
      { id: '@r2', skills: ['Perl', '=SUM(A1)'] },
      { id: 'r1', skills: ['Perl', 'Kept'], role: 'Old role' },
    ],
    file: `mode: apply\n${ALWAYS}\nskills: [Kept]\nroles: []`,
  });
  s.serve({}, 'defaults: { policy: { maxDeletePercent: 100 } }');
  await s.run(['plan']);
  expect((await s.run(['apply', '--yes'])).status).toBe(0);
  return s;
}

test('restore prints lines that the loader accepts and that create exactly the deleted entries, and who had them', async () => {
  const s = await afterDeletes();
  const { stdout, status } = await s.run(['restore', 'last']);
  expect(status).toBe(0);
  expect(stdout).toContain('deleted 6 entries; 2 people had them');
  const lines = stdout.split('\n');
  const [from, to] = [lines.indexOf('skills:'), lines.indexOf('  - Old role')];
  expect(lines[from - 1]).toBe('');
  const file = readFileSync(join(s.folder, 'config/accounts/acme.yaml'), 'utf8');
  expect(file).toContain('skills: [Kept]\nroles: []');
  // Pasted below the names that the file has already.
  const pasted = lines
    .slice(from, to + 1)
    .join('\n')
    .replace('skills:', 'skills:\n  - Kept');
  s.configure(`${ALWAYS}\n${pasted}`);
  expect((await s.run(['validate'])).stdout).toMatch(/^1 account, \d+ names: valid\n$/);
  const { plan } = await s.plan();
  expect(changesOf(plan).toSorted()).toEqual(
    ['create 1.0', 'create =SUM(A1)', 'create C #', 'create Old role', 'create Perl'].toSorted(),
  );
  expect(stdout).toMatch(/skill +\\u0020lead .*\s+rolecall cannot create it: .*white space/);
  expect(stdout).toMatch(/skill Perl\n +@r2\n +r1\n/);
  // Now the file names them, so nothing must be pasted.
  const again = await json<{ yaml: string }>(s, 'restore', 'last');
  expect(again.yaml).toBe('');
});

test('restore writes CSV with one row for each person, and disarms formulas', async () => {
  const s = await afterDeletes();
  const { stdout } = await s.run(['restore', 'last', '--format', 'csv']);
  const rows = stdout.split('\r\n').map((row) => row.split(','));
  expect(rows[0]?.slice(2)).toEqual(['kind', 'name', 'entry id', 'outcome', 'person id', 'had it until']);
  const people = rows
    .slice(1)
    .map(([, , kind, name, , outcome, person]) => [kind, name, outcome, person].join(' '));
  expect(people).toContain("skill Perl deleted '@r2");
  expect(people).toContain('skill Perl deleted r1');
  expect(people).toContain("skill '=SUM(A1) deleted '@r2");
  expect(people).toContain('skill 1.0 deleted ');
});

test('restore marks an unknown outcome, and warns about an entry that exists again', async () => {
  const s = await afterDeletes();
  s.configure(`${ALWAYS}\nskills: [Kept, C \\u0023]`.replace(String.raw`C \u0023`, '"C #"'));
  const [run] = s.rows<{ id: string }>('select id from runs where deleted > 0');
  await s.run(['apply', '--yes']);
  // After that run, which would have found out the outcome.
  s.execute("update operations set status = 'unknown' where name = 'Perl'");
  const { stdout } = await s.run(['restore', run?.id ?? '']);
  expect(stdout).toContain('deleted 6 entries (the outcome of 1 is unknown)');
  expect(stdout).toMatch(/skill +Perl .*its delete was sent, and the outcome is unknown/);
  expect(stdout).toMatch(/skill +C # .*\s+an entry of this name exists again; .*acme.yaml names it already/);
  expect(stdout).toContain('does not manage this kind');
  // The file manages no roles now: a list with this one alone would delete all others.
  expect(stdout).not.toContain('roles:');
});

test('diff compares snapshots by id, run, last and now, and refuses those of two accounts', async () => {
  const s = await afterDeletes();
  const { stdout } = await s.run(['diff', '1', 'last']);
  expect(stdout).toContain('6 entries deleted, 2 people changed');
  expect(stdout).toMatch(/~ +r1 +lost Perl; role Old role → none/);
  const [first, second] = s.rows<{ id: string }>('select id from runs order by id');
  expect(
    (await json<{ entries: unknown[] }>(s, 'diff', first?.id ?? '', second?.id ?? '')).entries,
  ).toHaveLength(6);
  expect((await s.run(['diff', 'last', 'now'])).stdout).toContain('Nothing changed');
  expect((await s.run(['diff', 'now', '1'])).stdout).toContain('6 entries created, 2 people changed');
  expect((await s.run(['diff', 'now', 'now'])).status).toBe(64);
  s.execute("update runs set account = 'other' where id = ?", first?.id);
  const different = await s.run(['diff', '1', 'last', 'acme']);
  expect(different.status).toBe(64);
  expect(different.stderr).toContain('different accounts (other, acme)');
  s.execute("update runs set account = 'acme' where id = ?", first?.id);
  s.execute("update runs set remote_account_id = '7' where id = ?", first?.id);
  expect((await s.run(['diff', '1', 'last'])).stderr).toContain('different accounts of the service (7, 42)');
  expect((await s.run(['diff', '1', 'now'])).stderr).toContain('different accounts of the service (7, 42)');
  s.execute('delete from snapshots where run_id = ?', first?.id);
  expect((await s.run(['diff', '1', 'last'])).stderr).toContain('no snapshot 1 is stored');
  expect((await s.run(['diff', first?.id ?? '', 'last'])).stderr).toContain('has no snapshot');
  expect(s.sandbox.requests().filter(({ method }) => method !== 'GET')).toHaveLength(6);
});

test('who lists the people of the last good snapshot at a moment', async () => {
  const s = await scene({
    skills: ['Perl', 'Go'],
    roles: ['Perl', 'perl'],
    resources: [
      { id: 'r1', skills: ['Perl'], role: 'Perl' },
      { id: 'r2', role: 'perl' },
    ],
    file: `${ALWAYS}\nskills: [Perl, Go]`,
  });
  await s.run(['plan']);
  s.execute('update snapshots set taken_at = ?', `${day(-10)}T12:00:00.000Z`);
  s.execute('update runs set started_at = ?', `${day(-10)}T12:00:00.000Z`);
  s.configure(`${ALWAYS}\nskills: [Go]`);
  await s.run(['apply', '--yes']);
  type Holders = {
    snapshot: unknown;
    entries: { kind: string; people: string[] }[];
    near: { name: string }[];
  };
  const who = async (...args: string[]): Promise<string[]> =>
    (await json<Holders[]>(s, 'who', ...args)).flatMap(({ entries }) =>
      entries.map(({ kind, people }) => `${kind}: ${people.join(' ')}`),
    );
  expect(await who('Perl')).toEqual(['role: r1']);
  expect(await who('Perl', '--at', day(-9))).toEqual(['skill: r1', 'role: r1']);
  expect(await who('Perl', 'acme', '--at', day(-1))).toEqual(['skill: r1', 'role: r1']);
  expect((await s.run(['who', 'Perl', '--at', day(-9)])).stdout).toContain('Near names  role perl');
  // About later days nobody knows anything.
  const today = await s.run(['who', 'Perl', '--at', day(0)]);
  expect([today.status, today.stdout]).toEqual([0, expect.stringContaining('1 person had the skill Perl')]);
  expect(await s.run(['who', 'Perl', '--at', day(2)])).toMatchObject({ status: 64, stdout: '' });
  const early = await s.run(['who', 'Perl', '--at', `${day(-10)}T08:00`]);
  expect(early).toMatchObject({ status: 1, stdout: '' });
  expect(early.stderr).toContain(
    'it is not known who had "Perl": no snapshot of that time is stored of acme',
  );
  expect((await s.run(['who', 'PERL'])).stderr).toMatch(
    /in the last good snapshots of acme\. Did you mean "[Pp]erl"\?/,
  );
  expect((await s.run(['who', 'Perl', '--at', '2026-02-30'])).status).toBe(64);
});

test('status shows one line for each account, the most urgent first, also of accounts without a run or a file', async () => {
  const s = await scene({
    file: 'mode: apply\nschedule: "0 0 1 1 *"\nskills: [New]',
    others: ['held', 'waits', 'gone'].map((name) => ({
      name,
      id: name,
      token: `token-of-${name}`,
      skills: ['Old'],
      resources: [{ id: 'p', skills: ['Old'] }],
    })),
  });
  const before = await s.run(['status']);
  expect(before).toMatchObject({ status: 0, stderr: '' });
  expect(before.stdout).toMatch(/^acme +not run yet/m);
  s.configure('skills: []', 'held');
  s.configure('skills: [Old, New]', 'waits');
  s.configure('skills: [Old]', 'gone');
  s.configure('skills: [1.0]', 'broken');
  await s.run(['plan', '!broken']);
  await s.run(['apply', 'acme', '--yes']);
  await s.run(['pause', 'acme', '--reason', 'moving house']);
  s.execute(
    "update accounts set pending_digest = 'sha256:0123456789abcdef', pending_run = last_run_id, pending_since = ? where name = 'waits'",
    hoursAgo(2),
  );
  s.write('config/accounts/gone.yaml', '');
  await s.run(['plan', 'gone']);
  const { rm } = await import('node:fs/promises');
  await rm(join(s.folder, 'config/accounts/gone.yaml'));
  const { stdout } = await s.run(['status']);
  const lines = stdout.split('\n').filter((line) => line !== '');
  expect(lines.map((line) => line.split(' ')[0])).toEqual([
    'Account',
    'broken',
    'waits',
    'held',
    'acme',
    'gone',
    '5',
  ]);
  expect(lines[1]).toMatch(/invalid file .*broken\.yaml:3:10: /);
  expect(lines[2]).toMatch(
    /waiting for approval +\+1 .*plan 0123456789ab since 2 h ago: rolecall .*approve waits 0123456789ab/,
  );
  expect(lines[3]).toMatch(/held +1 /);
  expect(lines[4]).toMatch(/paused .* – +paused now|paused .* by \S+: moving house/);
  expect(lines[5]).toMatch(/removed/);
  expect(lines[6]).toContain(
    '5 accounts: 1 invalid file, 1 waiting for approval, 1 held, 1 paused, 1 removed.',
  );
  expect(await json(s, 'status', '--state', 'held')).toMatchObject([{ account: 'held' }]);
  expect(await s.run(['status', '--state', 'good'])).toMatchObject({ status: 64 });
  const [acme] = await json<{ nextRun: unknown; pause: object }[]>(s, 'status', 'acme');
  expect(acme).toMatchObject({ nextRun: null, pause: { reason: 'moving house' } });
  await s.run(['resume', 'acme']);
  const [resumed] = await json<{ nextRun: { at: string } }[]>(s, 'status', 'acme');
  // It is due since the pause ended.
  expect(Date.parse(resumed?.nextRun.at ?? '')).toBeLessThanOrEqual(Date.now());
  expect(await s.run(['status', 'nobody'])).toMatchObject({ status: 64 });
  expect(s.sandbox.requests().filter(({ method }) => method !== 'GET')).toHaveLength(1);
});

test('status says when no daemon has run an account for two intervals', async () => {
  const s = await scene({ file: 'skills: [New]\nschedule: "0 * * * *"' });
  await s.run(['plan']);
  const overdue = async (hours: number) => {
    s.execute('update accounts set due_at = null, ticked_at = ?', hoursAgo(hours + 1));
    const [acme] = await json<{ nextRun: { overdueSince: string | null } }[]>(s, 'status');
    return acme?.nextRun.overdueSince;
  };
  expect((await s.run(['status'])).stdout).toContain(
    'Next runs start while the daemon (rolecall serve) runs.',
  );
  expect(await overdue(0.9)).toBeNull();
  expect(await overdue(1.1)).toMatch(/Z$/);
  const { stdout } = await s.run(['status']);
  expect(stdout).toContain('No daemon has run 1 account for two intervals: start rolecall serve');
  expect(stdout).toMatch(/^ *acme .*due 1 h ago/m);
  s.execute('update runs set finished_at = null');
  expect(await overdue(1.1)).toBeNull();
});

costly(
  'status --watch ends without a message at the first change after the reader of its pipe has ended',
  async () => {
    const s = await scene({ file: 'skills: [New]' });
    const watching = s.start(['status', '--watch']);
    await s.until('it prints the account', () => watching.output().stdout.includes('not run yet'));
    watching.process.stdout?.destroy();
    await s.run(['pause', 'acme', '--reason', 'lunch']);
    expect(await watching.ended).toMatchObject({ status: 0, stderr: '' });
  },
);

test('status --watch prints the statuses after each change until it is interrupted', async () => {
  const s = await scene({ file: 'skills: [New]' });
  const watching = s.start(['status', '--watch']);
  await s.until('it prints the account', () => watching.output().stdout.includes('not run yet'));
  await s.run(['pause', 'acme', '--reason', 'lunch']);
  await s.until('it prints the change', () => watching.output().stdout.includes('lunch'));
  watching.process.kill('SIGINT');
  const { status, stdout } = await watching.ended;
  expect([status, stdout.match(/^acme /gm)?.length]).toEqual([130, 2]);
});

test('who refuses a moment in the future, and commands that read the store repeat no warnings about files', async () => {
  const s = await scene({ file: 'skills: [Go]', skills: ['Go'] });
  await s.run(['plan']);
  const tomorrow = await s.run(['who', 'Go', '--at', '2999-01-01']);
  expect([tomorrow.status, tomorrow.stderr]).toEqual([64, expect.stringContaining('--at is in the future')]);
  writeFileSync(join(s.folder, 'config/accounts/ignored.yml'), 'skills: [Zig]\n');
  expect((await s.run(['plan'])).stderr).toContain('ignored.yml');
  for (const command of [
    ['who', 'Go'],
    ['history'],
    ['show', 'last'],
    ['history', '--lists'],
    ['restore', 'last'],
  ]) {
    expect([command, (await s.run(command)).stderr]).toEqual([command, '']);
  }
});
