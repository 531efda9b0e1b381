// How many statements a run needs that finds nothing to do: a database on another machine answers each in its own time.
import { expect, it } from 'vitest';
import { stage } from './stage.ts';

it('a run without changes needs at most 20 statements', async () => {
  const on = await stage({
    seed: { name: 'acme', token: 'token', skills: [{ name: 'Go' }], roles: [], resources: [{}] },
  });
  const wish = { skills: ['Go'], roles: [], trigger: 'schedule', options: { approvals: true } } as const;
  for (let run = 0; run < 3; run += 1) expect((await on.apply(wish)).status).toBe('converged');
  expect(on.statements().length).toBeGreaterThan(10);
  expect(on.statements().length).toBeLessThanOrEqual(20);
});
