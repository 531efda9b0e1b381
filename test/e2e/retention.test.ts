// How long the journal is kept, also when the clock of one command is wrong.
import { expect, test } from 'vitest';
import { scene } from '../support/scene.ts';

const TEN_YEARS_MS = 10 * 365 * 86_400_000;

/** Sets the clock of a process ahead. */
function clockAhead(ms: number): Readonly<Record<string, string>> {
  const script = `const Real = Date;
    globalThis.Date = class extends Real {
      constructor(...of) { if (of.length === 0) super(Real.now() + ${ms}); else super(...of); }
      static now() { return Real.now() + ${ms}; }
    };`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(script)}` };
}

test('a command whose clock is ten years ahead deletes nothing from the journal, and later ones work again', async () => {
  const s = await scene({
    skills: ['Go'],
    file: 'skills: [Go]',
    service: 'retention: 90d',
  });
  for (let n = 0; n < 3; n += 1) await s.apply();
  const ids = () => s.rows<{ id: string }>('select id from runs order by id').map(({ id }) => id);
  const before = ids();
  const ahead = await s.run(['apply', '--yes', '--all'], { env: clockAhead(TEN_YEARS_MS), asProcess: true });
  expect(ahead.status).toBe(0);
  const [newest] = s.rows<{ at: string }>('select max(finished_at) as at from runs');
  expect(Date.parse(newest?.at ?? '')).toBeGreaterThan(Date.now() + TEN_YEARS_MS / 2);
  expect(ids()).toEqual(expect.arrayContaining(before));

  // With the right clock, what is old is deleted again, and what is young is kept.
  const old = new Date(Date.now() - 100 * 86_400_000).toISOString();
  s.execute('update runs set started_at = ?, finished_at = ? where id = ?', old, old, before[0]);
  s.execute('update snapshots set taken_at = ? where run_id = ?', old, before[0]);
  expect((await s.run(['apply', '--yes', '--all'])).status).toBe(0);
  expect(ids()).not.toContain(before[0]);
  expect(ids()).toEqual(expect.arrayContaining(before.slice(1)));
});
