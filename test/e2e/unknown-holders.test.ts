// Where nobody can tell who has an entry, every report says so, and none says that nobody has it.
import { expect, test } from 'vitest';
import { codes, holds, scene } from '../support/scene.ts';
import { someOf } from '../support/thorough.ts';

const SCENE = { skills: ['Kept', 'Old'], resources: [], isFresh: true };
/** Text on one line, without what a format adds. */
const plain = (text: string): string => text.replace(/<[^>]*>/gu, '').replace(/\s+/gu, ' ');

test.each(someOf(['delete: always', 'allowNoPeople: true'], 1))(
  'with %s and no people, plans, runs and restore say that nobody can tell who has an entry',
  async (policy) => {
    const s = await scene({ ...SCENE, file: `skills: [Kept]\npolicy: { ${policy} }` });
    await s.run(['plan']);
    expect(codes((await s.plan()).plan)).toContain('unknown_holders');
    for (const format of ['text', 'markdown', 'html']) {
      const text = plain((await s.run(['plan', '--format', format])).stdout);
      expect(text).toContain('1 to delete (nobody can tell who has it)');
      expect(text).not.toMatch(/nobody (has|had|loses?|lost)\b/iu);
    }
    const applied = await s.run(['apply', '--yes']);
    expect([applied.status, s.writes()]).toEqual([0, ['DELETE Old']]);
    for (const args of [
      ['show', 'last'],
      ['restore', 'last'],
    ]) {
      const text = plain((await s.run(args)).stdout);
      expect(text).toMatch(/who (had|lost) (it|an entry) is not known/iu);
      expect(text).not.toMatch(/nobody (had|lost)\b/iu);
    }
  },
);

test('a held delete says that nobody can tell who has the entry', async () => {
  const s = await scene({ ...SCENE, file: 'skills: [Kept]\npolicy: { delete: always, maxDeletes: 0 }' });
  await s.run(['plan']);
  expect(holds((await s.plan()).plan)).toEqual({ Old: ['too_many'] });
  const text = plain((await s.run(['plan'])).stdout);
  expect(text).toContain('1 held (nobody can tell who has it)');
  expect(text).not.toMatch(/nobody (has|had|loses?|lost)\b/iu);
});

test('the report of a run whose lists show no people names those who had the entry by earlier lists', async () => {
  const s = await scene({
    skills: ['Kept', 'Old'],
    resources: [{ id: 'ada', skills: ['Old'] }],
    file: 'skills: [Kept]\npolicy: { allowNoPeople: true, unusedFor: 0s }',
  });
  await s.run(['plan']);
  s.sandbox.setFaults([
    {
      match: { method: 'GET', path: 'resource' },
      times: 'always',
      do: { type: 'status', status: 200, body: [] },
    },
  ]);
  const applied = await s.run(['apply', '--yes', '--accept', 'suspicious_list']);
  expect(s.writes()).toEqual(['DELETE Old']);
  expect(plain(applied.stdout)).toMatch(
    /Who lost an entry is not known: its lists do not show who has what; ada had it until /u,
  );
});
