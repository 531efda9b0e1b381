// Who had a deleted entry, by the lists of earlier runs too: one list that shows nobody with it is no evidence.
import { expect, test } from 'vitest';
import { type Scene, scene } from '../support/scene.ts';

const POLICY = 'policy: { unusedFor: 0s, maxDeletePercent: 100 }';
const UNTIL = '2026-03-10T16:45:17.000Z';

/** Ada and Bob had Perl until 16:45:17; a later list, and the run that deletes it, show nobody with it. */
async function afterTheDelete(service = ''): Promise<Scene> {
  const s = await scene({
    skills: ['Perl', 'Cobol', 'Go'],
    resources: [
      { id: 'ada', skills: ['Perl', 'Go'] },
      { id: 'bob', skills: ['Perl'] },
      { id: 'eve', skills: ['Perl'] },
    ],
    file: `${POLICY}\nskills: [Perl, Cobol, Go]`,
    // The earlier lists have a fixed date.
    service: `retention: 9000d\n${service}`,
  });
  const perl = s.idOf('Perl');
  await s.run(['plan']);
  s.sandbox.unassign('acme', 'eve', perl);
  await s.run(['plan']);
  const runs = s.rows<{ id: string }>('select id from runs order by id');
  for (const [index, at] of ['2026-03-09T10:00:00.000Z', UNTIL].entries()) {
    s.execute('update snapshots set taken_at = ? where run_id = ?', at, runs[index]?.id);
    s.execute('update runs set started_at = ? where id = ?', at, runs[index]?.id);
  }
  for (const person of ['ada', 'bob']) s.sandbox.unassign('acme', person, perl);
  await s.run(['plan']);
  s.configure(`${POLICY}\nmode: apply\nskills: [Go]`);
  return s;
}

const SENTENCE = 'ada, bob had some of them until 2026-03-10 16:45:17 UTC';

test('the report of a run and restore name the people who had a deleted entry by earlier lists', async () => {
  const s = await afterTheDelete();
  const applied = await s.run(['apply', '--yes']);
  expect(applied.status, applied.stderr).toBe(0);
  expect(applied.stdout).toContain(`Nobody lost a skill or role by the lists of this run; ${SENTENCE}.`);
  const shown = await s.run(['show', 'last']);
  expect(shown.stdout).toContain(SENTENCE);
  expect(shown.stdout).toMatch(/Perl +nobody had it .*until 2026-03-10 16:45:17 UTC: ada, bob/);
  expect(shown.stdout).toMatch(/Cobol +nobody had it/);
  const restored = await s.run(['restore', 'last']);
  expect(restored.stdout).toContain(SENTENCE);
  expect(restored.stdout).toMatch(/Perl +\w+ +nobody had it when it was deleted, 2 people before\n/);
  expect(restored.stdout).toMatch(/Cobol +\w+ +nobody had it when it was deleted\n/);
  expect(restored.stdout).toMatch(/skill Perl\n +ada +2026-03-10/);
  const { stdout: csv } = await s.run(['restore', 'last', '--format', 'csv']);
  const rows = csv.split('\r\n').map((row) => row.split(','));
  expect(rows[0]?.at(-1)).toBe('had it until');
  expect(rows.map((row) => [row[3], row[6], row[7]])).toEqual(
    expect.arrayContaining([
      ['Perl', 'ada', UNTIL],
      ['Perl', 'bob', UNTIL],
      ['Cobol', '', ''],
    ]),
  );
  const json = JSON.parse((await s.run(['show', 'last', '--format', 'json'])).stdout) as object;
  expect(json).toHaveProperty('earlierHolders', [{ seq: 2, until: UNTIL, people: ['ada', 'bob'] }]);
  // A dry run deletes nothing, so the last run that did is meant.
  await s.run(['plan']);
  expect((await s.run(['restore', 'last'])).stdout).toContain(SENTENCE);
});

test('who of a deleted entry names the run that deleted it, and the people who had it last', async () => {
  const s = await afterTheDelete();
  await s.run(['apply', '--yes']);
  const [run] = s.rows<{ id: string }>('select id from runs where deleted > 0');
  const { status, stdout } = await s.run(['who', 'Perl']);
  expect(status).toBe(0);
  expect(stdout).toContain(`run ${run?.id ?? '-'} deleted the skill Perl`);
  expect(stdout).toContain(
    'nobody had it when it was deleted; ada, bob had it until 2026-03-10 16:45:17 UTC',
  );
  const [account] = JSON.parse((await s.run(['who', 'Perl', '--format', 'json'])).stdout) as {
    deleted: unknown[];
  }[];
  expect(account?.deleted).toEqual([
    expect.objectContaining({
      kind: 'skill',
      name: 'Perl',
      runId: run?.id,
      people: [],
      earlier: { until: UNTIL, people: ['ada', 'bob'] },
    }),
  ]);
  // Before the delete nobody needs to hear about it.
  const then = await s.run(['who', 'Perl', '--at', UNTIL]);
  expect(then.stdout).toContain('2 people had the skill Perl');
  expect(then.stdout).not.toContain('deleted');
  expect((await s.run(['who', 'Nothing'])).status).toBe(1);
});
