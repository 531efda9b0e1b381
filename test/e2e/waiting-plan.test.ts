// A pending plan: what its report suggests, and when an approval given during a pause takes effect.
import { expect, test } from 'vitest';
import { ONCE_A_YEAR, startDaemon, WITH_TOKEN } from '../support/daemon.ts';
import { scene } from '../support/scene.ts';

test('an approval of a paused account is used when the account is resumed', async () => {
  const s = await scene({
    skills: ['Go'],
    file: 'skills: [Go, Zig]',
    service: [`defaults: { mode: approve, schedule: ${ONCE_A_YEAR} }`, WITH_TOKEN].join('\n'),
  });
  const daemon = await startDaemon(s);
  await s.until('a plan waits', () => daemon.runsEnded('acme', 'planned') > 0);
  expect((await s.run(['pause', 'acme'])).status).toBe(0);
  const approved = await s.run(['approve', 'acme', '--yes']);
  expect(approved.stdout).toContain('acme is paused: run `');
  expect(approved.stdout).toContain('\n1 to create, 0 to delete, 0 held; ');
  expect((await s.run(['resume', 'acme'])).status).toBe(0);
  await s.until('the plan is executed', () => daemon.runsEnded('acme', 'converged') > 0);
  expect(s.writes()).toEqual(['POST Zig']);
});
