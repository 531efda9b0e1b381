// How long the daemon backs off from an account: only while its runs fail in a row.
import { expect, test } from 'vitest';
import { type Daemon, ONCE_A_YEAR, startDaemon, WITH_TOKEN } from '../support/daemon.ts';
import { scene, type Scene } from '../support/scene.ts';

interface AccountJson {
  readonly backoffUntil: string | null;
  readonly consecutiveFailures: number;
  readonly nextRunAt: string;
}

/** A daemon whose account runs when the daemon starts, and then on request. */
async function serving(
  skills: readonly string[],
  schedule = ONCE_A_YEAR,
): Promise<{ s: Scene; daemon: Daemon }> {
  const s = await scene({
    skills,
    file: `skills: ${JSON.stringify(skills)}`,
    service: [`defaults: { mode: apply, schedule: ${schedule}, jitter: 0s }`, WITH_TOKEN].join('\n'),
  });
  const daemon = await startDaemon(s);
  await s.until('it has converged', () => daemon.runsEnded('acme', 'converged') > 0);
  return { s, daemon };
}

async function runNow(s: Scene, daemon: Daemon, status: string): Promise<AccountJson> {
  const before = daemon.runsEnded('acme', status);
  await s.until(
    'the request for a run is accepted',
    async () => (await daemon.api('accounts/acme/sync', {})).status === 202,
  );
  await s.until(`a run has ended ${status}`, () => daemon.runsEnded('acme', status) > before);
  return (await daemon.api<AccountJson>('accounts/acme')).body;
}

test('runs that a guard blocked do not count as failures, so one failure after them starts no backoff', async () => {
  const skills = Array.from({ length: 12 }, (_, index) => `S${index}`);
  const { s, daemon } = await serving(skills);
  for (const name of skills.slice(0, 10)) s.sandbox.removeEntry('acme', s.idOf(name));
  for (const _ of [1, 2, 3]) {
    expect(await runNow(s, daemon, 'blocked')).toMatchObject({ backoffUntil: null });
  }
  s.sandbox.setFaults([{ match: { name: 'S1' }, times: 'always', do: { type: 'status', status: 422 } }]);
  expect((await s.run(['approve', 'acme'])).status).toBe(0);
  await s.until('it is released', () => daemon.runsEnded('acme', 'partial') > 0);
  expect((await daemon.api('accounts/acme')).body).toMatchObject({ backoffUntil: null });
});

test('a success of another process ends the backoff', async () => {
  const { s, daemon } = await serving(['Go'], '"*/25 * * * *"');
  s.sandbox.setFaults([{ times: 'always', do: { type: 'status', status: 404 } }]);
  for (const _ of [1, 2]) await runNow(s, daemon, 'failed');
  const failing = (await daemon.api<AccountJson>('accounts/acme')).body;
  expect(failing).toMatchObject({ consecutiveFailures: 2, backoffUntil: expect.any(String) });

  s.sandbox.setFaults([]);
  expect((await s.apply()).run.status).toBe('converged');
  expect((await daemon.api<AccountJson>('accounts/acme')).body).toMatchObject({
    consecutiveFailures: 0,
    backoffUntil: null,
  });
});

test('two failures during the day do not delay the next scheduled run of an account that runs once a day', async () => {
  const { s, daemon } = await serving(['Go']);
  const inTwelveHours = (new Date().getUTCHours() + 12) % 24;
  s.configure(`schedule: "0 ${inTwelveHours} * * *"\nskills: [Go]`);
  const next = async (): Promise<string> => (await daemon.api<AccountJson>('accounts/acme')).body.nextRunAt;
  // Compares the time until the run and not its hour, which may be the same in the previous schedule.
  await s.until(
    'the schedule is the new one',
    async () => Date.parse(await next()) - Date.now() < 24 * 60 * 60 * 1000,
  );
  const tick = await next();
  s.sandbox.setFaults([{ times: 'always', do: { type: 'status', status: 404 } }]);
  for (const _ of [1, 2]) await runNow(s, daemon, 'failed');
  expect(await next()).toBe(tick);
});
