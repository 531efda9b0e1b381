// How runs end, the exit status of each end, and which runs can run at the same time.
import { expect, test } from 'vitest';
import type { Plan } from '../../src/core/plan.ts';
import { arrayOf, plansOf, type RunJson, scene, type Scene } from '../support/scene.ts';
import { someOf } from '../support/thorough.ts';

const slowCreates = { match: { method: 'POST' }, times: 'always', do: { type: 'latency', ms: 400 } } as const;
const stuckCreates = { match: { method: 'POST' }, times: 2, do: { type: 'latency', ms: 15_000 } } as const;
const PATIENT = { timeout: '20s', settle: '21s' };
const posts = (s: Scene): number => s.sandbox.requests().filter(({ method }) => method === 'POST').length;
const statusesOf = (s: Scene): string[] =>
  s.rows<{ status: string }>('select status from runs order by id').map(({ status }) => status);

test('a plan is journaled as planned and exits 0, or 2 with --detailed-exitcode when there is something to do', async () => {
  const s = await scene({ skills: ['Old'], file: 'skills: [New]' });
  expect((await s.plan()).result.status).toBe(0);
  expect((await s.plan('--detailed-exitcode')).result.status).toBe(2);
  expect(statusesOf(s)).toEqual(['planned', 'planned', 'planned']);
  expect(s.writes()).toEqual([]);
});

test('an account whose lists cannot be read fails in the plan, the run and the store', async () => {
  const s = await scene({ file: 'skills: [A]', settings: { unauthorizedStatus: 403 } });
  const env = { TOKEN_ACME: 'another-token' };
  const planned = await s.run(['plan', '--format', 'json'], { env });
  expect(planned.status).toBe(1);
  expect(plansOf(planned).get('acme')).toMatchObject({
    schemaVersion: 1,
    status: 'failed',
    error: { code: 'unauthorized' },
  });
  const applied = await s.run(['apply', '--yes', '--format', 'json'], { env });
  expect(applied.status).toBe(1);
  expect(arrayOf<RunJson>(applied)).toMatchObject([{ status: 'failed', errorCode: 'unauthorized' }]);
  expect(statusesOf(s)).toEqual(['failed', 'failed']);
});

test.each(someOf(['SIGTERM', 'SIGINT', 'SIGHUP'] as const, 1))(
  '%s during an apply lets requests in flight finish, skips the rest and exits 130',
  async (signal) => {
    const s = await scene({
      file: 'skills: [A, B, C, D, E]',
      api: { concurrency: 1 },
      faults: [slowCreates],
    });
    const running = s.start(['apply', '--yes', '--format', 'json']);
    await s.until('the second create is under way', () => posts(s) >= 2);
    expect(s.rows('select status from runs')).toEqual([{ status: 'running' }]);
    running.process.kill(signal);
    const result = await running.ended;
    expect(result.status).toBe(130);
    const [run] = arrayOf<RunJson>(result);
    const sent = posts(s);
    expect(sent).toBeLessThan(5);
    expect(run).toMatchObject({ status: 'interrupted', created: sent });
    expect(run?.operations.map(({ status }) => status)).toEqual(
      ['A', 'B', 'C', 'D', 'E'].map((_, index) => (index < sent ? 'done' : 'skipped')),
    );
    expect(statusesOf(s)).toEqual(['interrupted']);

    s.sandbox.setFaults([]);
    expect((await s.apply()).run).toMatchObject({ status: 'converged', created: 5 - sent });
    expect(s.names().skills).toEqual(['A', 'B', 'C', 'D', 'E']);
  },
);

test('a second signal aborts requests in flight, and the next run determines their outcome', async () => {
  const s = await scene({
    file: 'skills: [A, B]',
    api: { concurrency: 1, ...PATIENT },
    faults: [stuckCreates],
  });
  const running = s.start(['apply', '--yes', '--format', 'json']);
  await s.until('the create is under way', () => posts(s) === 1);
  running.process.kill('SIGINT');
  await s.until('it reports that it stops', () => running.output().stderr.includes('Stopping'));
  running.process.kill('SIGINT');
  const result = await running.ended;
  expect(result.stderr).toContain(
    'Stopping: requests in flight are completed, no new one starts. Ctrl-C again aborts them.\n',
  );
  expect(result.status).toBe(130);
  expect(arrayOf<RunJson>(result)).toMatchObject([
    {
      status: 'interrupted',
      operations: [
        { name: 'A', status: 'unknown' },
        { name: 'B', status: 'skipped' },
      ],
    },
  ]);
  s.serve();
  expect((await s.apply()).run.status).toBe('converged');
  expect(s.names().skills).toEqual(['A', 'B']);
});

const READERS: readonly (readonly [string, readonly string[]])[] = [
  ['plan', []],
  ['who', ['--live']],
  ['diff', ['last', 'now']],
];

test.each(someOf(READERS, 1))(
  'a signal while %s reads the lists exits 130, and is not reported as an outage',
  async (command, args) => {
    const s = await scene({ file: 'skills: [A]' });
    await s.run(['plan']);
    s.sandbox.setFaults([{ match: { method: 'GET' }, times: 'always', do: { type: 'latency', ms: 700 } }]);
    s.sandbox.clearRequests();
    const running = s.start([command, ...args]);
    await s.until('a list is requested', () => s.sandbox.requests().length > 0);
    running.process.kill('SIGINT');
    const { status, stdout, stderr } = await running.ended;
    expect([status, stdout + stderr]).toEqual([130, expect.not.stringMatching(/unavailable|online/)]);
  },
);

test('the next run marks a killed run as interrupted, and creates no duplicate of creates in flight', async () => {
  const s = await scene({
    skills: ['Kept'],
    file: 'skills: [A, B, C, Kept]',
    api: { concurrency: 2, ...PATIENT },
    faults: [stuckCreates],
  });
  const running = s.start(['apply', '--yes']);
  await s.until('two creates are under way', () => posts(s) === 2);
  running.process.kill('SIGKILL');
  await running.ended;
  expect(statusesOf(s)).toEqual(['running']);

  s.sandbox.setFaults([]);
  const { run } = await s.apply();
  expect(run).toMatchObject({ status: 'converged', created: 1 });
  expect(s.names().skills).toEqual(['A', 'B', 'C', 'Kept']);
  expect(statusesOf(s)).toEqual(['interrupted', 'converged']);
  const rows = s.rows<{ status: string }>(
    "select o.status from operations o join runs r on r.id = run_id where r.status = 'interrupted' order by seq",
  );
  expect(rows.map(({ status }) => status)).toEqual(['done', 'done', 'skipped']);
});

test('a second apply exits 1 with the process that holds the lock after --lock-timeout, and a plan needs no lock', async () => {
  const s = await scene({
    skills: ['Kept'],
    file: 'skills: [A, Kept]',
    api: PATIENT,
    faults: [stuckCreates],
  });
  const running = s.start(['apply', '--yes']);
  await s.until('the create is under way', () => posts(s) === 1);
  const [late, plan] = await Promise.all([
    s.run(['apply', '--yes', '--lock-timeout', '1ms']),
    s.run(['plan']),
  ]);
  expect(late.status).toBe(1);
  expect(late.stderr).toContain(String(running.process.pid));
  expect(plan.status).toBe(0);
  expect(posts(s)).toBe(1);

  const waiting = s.start(['apply', '--yes', '--format', 'json', '--lock-timeout', '20s']);
  await s.until('it reports that it waits', () => waiting.output().stderr.includes('waiting for the lock'));
  // The waiting apply takes over the lock of a dead process, and first determines the outcome of its requests.
  running.process.kill('SIGKILL');
  expect(arrayOf<RunJson>(await waiting.ended)).toMatchObject([{ status: 'converged', created: 0 }]);
  expect(s.writes()).toEqual(['POST A']);
});

/** `acme` without changes, and four more accounts: one fails, one is invalid, one is held, one has changes. */
async function several(): Promise<Scene> {
  const account = (name: string) => ({
    name,
    id: `id-${name}`,
    token: `token-of-${name}`,
    skills: ['Perl'],
    resources: [{ id: 'someone' }],
  });
  const s = await scene({
    skills: ['Perl'],
    file: 'skills: [Perl]',
    others: [
      { ...account('held'), resources: [{ id: 'r1', skills: ['Perl'] }] },
      account('changes'),
      account('invalid'),
      account('failing'),
    ],
    faults: [{ match: { account: 'failing' }, times: 'always', do: { type: 'status', status: 401 } }],
  });
  s.configure('skills: []\npolicy: { maxDeletePercent: 100 }', 'held');
  s.configure('skills: [Perl, New]', 'changes');
  s.configure('skills: [1.0]', 'invalid');
  s.configure('skills: [Perl]', 'failing');
  return s;
}

test('with several accounts the most severe exit status is returned, in the order 1, 4, 2, 3 of plan, and all accounts run', async () => {
  const s = await several();
  // Two commands run as processes, whose exit status must be the same.
  const plan = async (names: readonly string[], asProcess = false) =>
    (await s.run(['plan', '--detailed-exitcode', ...names], { asProcess })).status;
  const [all, noFailure, noInvalid, noHeld, unchanged, only] = await Promise.all([
    plan([]),
    plan(['acme', 'held', 'changes', 'invalid'], true),
    plan(['acme', 'held', 'changes'], true),
    plan(['acme', 'changes']),
    plan(['acme']),
    s.run(['plan', '--format', 'json', '--detailed-exitcode', 'invalid']),
  ]);
  expect([all, noFailure, noInvalid, noHeld, unchanged]).toEqual([1, 4, 2, 2, 0]);
  expect(only.status).toBe(4);
  expect(plansOf(only).get('invalid')).toMatchObject({ status: 'failed', error: { code: 'config_invalid' } });

  const applied = await s.run(['apply', '--yes', '--all', '--format', 'json']);
  expect(applied.status).toBe(1);
  const runs = arrayOf<RunJson>(applied).map(({ account, status }) => [account, status]);
  expect(Object.fromEntries(runs)).toEqual({
    acme: 'converged',
    held: 'held',
    changes: 'converged',
    invalid: 'failed',
    failing: 'failed',
  });
  expect(s.names('changes').skills).toEqual(['New', 'Perl']);
  expect((await s.run(['apply', '--yes', 'acme', 'held', 'invalid'])).status).toBe(4);
  expect((await s.run(['apply', '--yes', 'acme', 'held'])).status).toBe(3);
  expect((await s.run(['apply', '--yes', '--allow-held', 'acme', 'held'])).status).toBe(0);
});

test('exit status 5 of a stale saved plan takes precedence over 3, and 4 of an invalid account over 5', async () => {
  const s = await several();
  const saved = ['changes', 'held', 'acme'];
  await s.run(['plan', ...saved]);
  expect((await s.run(['plan', '--save', 'saved.json', ...saved])).status).toBe(0);
  s.sandbox.addSkill('changes', 'Surprise');
  expect((await s.run(['apply', '--plan', 'saved.json'], { asProcess: true })).status).toBe(5);
  s.configure('skills: [1.0]', 'acme');
  expect((await s.run(['apply', '--plan', 'saved.json'])).status).toBe(4);
});

test('mode is for the daemon only, so apply writes in mode plan', async () => {
  const s = await scene({ file: 'skills: [A]\nmode: plan' });
  expect((await s.apply()).run).toMatchObject({ status: 'converged', created: 1, mode: 'apply' });
});

test('apply sends the writes that a dry run shows, in the same order', async () => {
  const s = await scene({
    skills: ['Old b', 'Old a'],
    roles: ['Old role'],
    file: 'skills: [Zed, Ärger, "𝒜", Alpha]\nroles: [Dev]',
    api: { concurrency: 1 },
  });
  const { plan } = await s.plan();
  const signs: Record<Plan['operations'][number]['action'], string> = { create: 'POST', delete: 'DELETE' };
  const expected = plan.operations.map(({ action, name }) => `${signs[action]} ${name}`);
  expect(expected).toEqual([
    'POST Alpha',
    'POST Zed',
    'POST Ärger',
    'POST 𝒜',
    'POST Dev',
    'DELETE Old a',
    'DELETE Old b',
    'DELETE Old role',
  ]);
  await s.apply();
  expect(s.writes()).toEqual(expected);
});
