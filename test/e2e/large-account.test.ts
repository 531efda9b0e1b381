// An account with large lists runs in its own process, and its runs, plans and operations are like those of other
// accounts.
import { expect, test } from 'vitest';
import { EVERY_SECOND, HTTP_TOKEN, startDaemon, WITH_TOKEN } from '../support/daemon.ts';
import { arrayOf, scene } from '../support/scene.ts';
import type { PlanResult } from '../../src/core/plan.ts';

const MANY = Array.from({ length: 2500 }, (_, number) => `Skill ${number}`);

test('a large account runs in its own process, is applied, and is planned from posted files', async () => {
  const s = await scene({ skills: MANY, api: { timeout: '10s', settle: '11s' }, service: WITH_TOKEN });
  const lines = (...names: string[]): string =>
    [
      'mode: apply',
      `schedule: ${EVERY_SECOND}`,
      'policy: { ownership: managed }',
      `skills: [${names.join(', ')}]`,
    ].join('\n');
  s.configure(lines('Go'));
  const daemon = await startDaemon(s);
  await s.until('the skill is created', () => s.names().skills.includes('Go'));
  await s.until('the run has ended', () => daemon.runsEnded('acme', 'converged') > 0);
  expect(daemon.events('large_account', 'acme')).toHaveLength(1);
  expect(daemon.events('planned', 'acme').length).toBeGreaterThan(0);

  s.configure(lines('Go', 'Rust'));
  const env = { ROLECALL_HTTP_TOKEN: HTTP_TOKEN };
  const posted = await s.run(['plan', '--server', daemon.url, '--format', 'json'], { env });
  expect(arrayOf<PlanResult>(posted)[0]?.status).toBe('planned');
  await s.until('the second skill is created', () => s.names().skills.includes('Rust'));
  await daemon.stop();

  // Runs in another process leave no unfinished and no failed run.
  expect(s.rows("select status from runs where status in ('running', 'failed')")).toEqual([]);
  expect(s.names().skills).toHaveLength(2502);
});
