// The times of `diff` and `who`: each means the last snapshot that was taken until then.
import { expect, test } from 'vitest';
import { day, type Scene, scene } from '../support/scene.ts';

/** An account with three snapshots: at noon ten days ago, at midnight yesterday, and now. */
async function withHistory(): Promise<Scene> {
  const s = await scene({
    skills: ['Ten', 'Go'],
    resources: [{ id: 'ada', skills: ['Ten'] }],
    file: 'skills: [Ten, Go]',
  });
  await s.run(['plan']);
  s.sandbox.addSkill('acme', 'Yesterday');
  await s.run(['plan']);
  const runs = s.rows<{ id: string }>("select id from runs where account = 'acme' order by id");
  for (const [index, at] of [`${day(-10)}T12:00:00.000Z`, `${day(-1)}T00:00:00.000Z`].entries()) {
    s.execute('update snapshots set taken_at = ? where run_id = ?', at, runs[index]?.id);
    s.execute('update runs set started_at = ? where id = ?', at, runs[index]?.id);
  }
  s.sandbox.addSkill('acme', 'Today');
  await s.run(['plan']);
  s.sandbox.addSkill('acme', 'Unread');
  return s;
}

/** The names of the entries that were created between two places. */
async function created(s: Scene, ...args: string[]): Promise<string[]> {
  const { stdout, stderr } = await s.run(['diff', ...args, '--format', 'json']);
  expect(stderr).toBe('');
  return (JSON.parse(stdout) as { entries: { name: string }[] }).entries.map(({ name }) => name);
}

test('diff compares two times, and one time with the newest snapshot or now', async () => {
  const s = await withHistory();
  expect(await created(s, '7d', 'last', 'acme')).toEqual(['Today', 'Yesterday']);
  expect(await created(s, day(-9), 'yesterday')).toEqual(['Yesterday']);
  expect(await created(s, `${day(-9)}T08:00:00+02:00`, day(-2))).toEqual([]);
  expect(await created(s, '7d', 'now')).toEqual(['Today', 'Unread', 'Yesterday']);
  const { stdout } = await s.run(['diff', '7d', 'last']);
  expect(stdout).toMatch(new RegExp(`From +snapshot 1, ${day(-10)} 12:00:00 UTC, before the changes of run`));
});

test('a day means its beginning in UTC, and a time before the first snapshot is an error', async () => {
  const s = await withHistory();
  const early = await s.run(['diff', day(-10), 'last', 'acme']);
  expect(early).toMatchObject({ status: 1, stdout: '' });
  expect(early.stderr).toContain(
    `no snapshot of the account "acme" is stored that was taken until ${day(-10)} 00:00:00 UTC`,
  );
  for (const at of [day(-9), '7d', 'yesterday', 'now', `${day(-10)}T12:00Z`])
    expect((await s.run(['who', 'Ten', '--at', at])).stdout).toContain('1 person had the skill Ten');
  expect((await s.run(['who', 'Ten', '--at', day(-10)])).status).toBe(1);
});

test.each([
  [['7d', 'last'], 'need an account: write its name last; the accounts are: acme, other'],
  [['acme', '7d'], '"acme" is no snapshot, run or time'],
  [['2026-02-30', 'last'], '"2026-02-30" is no snapshot, run or time'],
  [['7d', 'now', 'nobody'], 'there is no account "nobody"'],
  [['now', 'now'], 'compares nothing'],
])('diff %j is wrong usage', async (args, message) => {
  const s = await scene({
    file: 'skills: []',
    others: [{ name: 'other', id: '43', token: 'token-of-other' }],
  });
  s.configure('skills: []', 'other');
  await s.run(['plan']);
  const { status, stderr } = await s.run(['diff', ...args]);
  expect(status).toBe(64);
  expect(stderr).toContain(message);
});
