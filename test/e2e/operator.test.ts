// Commands of the operator to a running daemon: approve, pause, resume and backup. What an approval allows is tested in
// unit/run/approval.test.ts; the long tests repeat it with daemons.
import { existsSync, readFileSync, statSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';
import { join } from 'node:path';
import { SQLite } from '../../src/system/sqlite.ts';
import { expect, test } from 'vitest';
import { type Daemon, EVERY_SECOND, ONCE_A_YEAR, startDaemon, WITH_TOKEN } from '../support/daemon.ts';
import { arrayOf, type RunJson, scene, type Scene, type SceneOptions } from '../support/scene.ts';
import { costly } from '../support/thorough.ts';

interface Stage {
  readonly s: Scene;
  readonly daemon: Daemon;
  /** The daemon's view of the account. */
  account(): Promise<AccountJson>;
  /** Requests a run, waits for its end and returns it. */
  sync(): Promise<RunJson>;
  /** Waits until a plan is pending, and returns its digest. */
  waiting(): Promise<string>;
}

interface AccountJson {
  readonly paused: boolean;
  readonly activity: string;
  /** ISO 8601, of the next tick. */
  readonly nextRunAt: string | null;
  readonly pending: { readonly digest: string; readonly runId: string } | null;
  readonly approved: { readonly digest: string; readonly expiresAt: string } | null;
  readonly lastRun: { readonly id: string; readonly status: string } | null;
}

/** An account that runs at the start and then only on request, unless its file has a schedule. */
async function stage(options: SceneOptions): Promise<Stage> {
  const defaults = `defaults: { mode: approve, schedule: ${ONCE_A_YEAR} }`;
  const s = await scene({ ...options, service: [defaults, WITH_TOKEN].join('\n') });
  return onStage(s, await startDaemon(s));
}

function onStage(s: Scene, daemon: Daemon): Stage {
  const account: Stage['account'] = async () => (await daemon.api<AccountJson>('accounts/acme')).body;
  return {
    s,
    daemon,
    account,
    async sync() {
      const manualRuns = () =>
        daemon.events('run_ended', 'acme').filter(({ trigger }) => trigger === 'manual');
      const before = manualRuns().length;
      await s.until(
        'the request for a run is accepted',
        async () => (await daemon.api('accounts/acme/sync', {})).status === 202,
      );
      await s.until('the run has ended', () => manualRuns().length > before);
      const id = manualRuns().at(-1)?.runId ?? '';
      return (await daemon.api<RunJson>(`runs/${id}`)).body;
    },
    async waiting() {
      await s.until('a plan waits', async () => (await account()).pending !== null);
      return (await account()).pending?.digest ?? '';
    },
  };
}

const ONE_TO_CREATE: SceneOptions = { skills: ['Go'], file: 'skills: [Go, Zig]' };

test('a pending plan is applied once after its approval, and the same plan needs another approval later', async () => {
  const never = await scene(ONE_TO_CREATE);
  expect(await never.run(['approve', 'acme'])).toMatchObject({
    status: 1,
    stdout: '',
    stderr: expect.stringContaining('not run yet'),
  });
  const on = await stage(ONE_TO_CREATE);
  const { s, daemon } = on;
  const digest = await on.waiting();
  expect(s.writes()).toEqual([]);

  // Approvals of another plan and malformed digests are refused, and nothing is approved.
  const other = await s.run(['approve', 'acme', 'sha256:0123456789abcdef']);
  expect(other.status).toBe(5);
  expect(other.stderr).toContain(digest);
  expect(other.stderr).toContain((await on.account()).pending?.runId);
  const hex = digest.slice('sha256:'.length);
  for (const malformed of ['zebra', hex.slice(0, 7), `sha512:${hex}`, `${digest}0`, hex.toUpperCase()]) {
    const { status } = await s.run(['approve', 'acme', malformed]);
    expect({ malformed, status }).toEqual({ malformed, status: 64 });
  }
  const approve = (body: object) => daemon.api('accounts/acme/approve', body);
  expect(await approve({ digest: `sha256:${'0'.repeat(64)}` })).toMatchObject({
    status: 409,
    body: { error: { code: 'other_plan', pending: digest } },
  });
  expect(await on.account()).toMatchObject({ pending: { digest }, approved: null });
  expect((await on.sync()).status).toBe('planned');
  expect(s.writes()).toEqual([]);

  const approval = await s.run(['approve', 'acme', digest.slice(0, 'sha256:'.length + 8)]);
  expect(approval).toMatchObject({ status: 0, stderr: '', stdout: expect.stringContaining(digest) });
  await s.until('the plan is executed', () => daemon.runsEnded('acme', 'converged') > 0);
  expect(s.writes()).toEqual(['POST Zig']);
  const actor = `${userInfo().username}@${hostname()}`;
  expect((await s.run(['show', 'last'])).stdout).toContain(`approval by ${actor}`);
  const [run] = s.rows(
    `select trigger, actor, mode, status, created, plan_digest from runs where created > 0`,
  );
  expect(run).toEqual({
    trigger: 'approval',
    actor,
    mode: 'approve',
    status: 'converged',
    created: 1,
    plan_digest: digest,
  });
  expect(await on.account()).toMatchObject({ pending: null, approved: null });
  expect(await s.run(['approve', 'acme'])).toMatchObject({
    status: 1,
    stdout: '',
    stderr: expect.stringContaining('converged'),
  });
  expect(await approve({ digest })).toMatchObject({
    status: 409,
    body: { error: { code: 'nothing_pending' } },
  });

  s.sandbox.removeEntry('acme', s.idOf('Zig'));
  expect(await on.sync()).toMatchObject({ status: 'planned', planDigest: digest, created: 0, warnings: [] });
  expect(await on.account()).toMatchObject({ pending: { digest }, approved: null });
  expect(s.writes()).toEqual(['POST Zig']);

  // The same over HTTP.
  const { status, body } = await approve({ digest: digest.slice(0, 20) });
  expect({ status, body }).toMatchObject({ status: 200, body: { status: 'approved', digest } });
  const expiresInMs = Date.parse(String(body['expiresAt'])) - Date.now();
  expect(expiresInMs / 3_600_000).toBeCloseTo(24, 1);
  await s.until('the plan is executed', () => daemon.runsEnded('acme', 'converged') > 1);
  expect(s.writes()).toEqual(['POST Zig', 'POST Zig']);

  // An approval of a paused account is used when the account is resumed.
  s.sandbox.removeEntry('acme', s.idOf('Zig'));
  expect((await on.sync()).status).toBe('planned');
  expect((await s.run(['pause', 'acme'])).status).toBe(0);
  const approved = await s.run(['approve', 'acme', '--yes']);
  expect(approved.stdout).toContain('acme is paused: run `');
  expect(approved.stdout).toContain('\n1 to create, 0 to delete, 0 held; ');
  expect(s.writes()).toHaveLength(2);
  expect((await s.run(['resume', 'acme'])).status).toBe(0);
  await s.until('the plan is executed', () => daemon.runsEnded('acme', 'converged') > 2);
  expect(s.writes()).toHaveLength(3);
  await daemon.stop();
});

costly(
  'an approved first plan is applied, and the deletes that it held are pending in the next plan',
  async () => {
    const on = await stage({ skills: ['Go', 'Perl'], file: 'skills: [Go, Zig]' });
    const { s } = on;
    const digest = await on.waiting();
    expect((await s.run(['approve', 'acme', digest])).status).toBe(0);
    await s.until('it is applied', () => s.writes().length > 0);
    await s.until('it has ended', () => on.daemon.runsEnded('acme', 'held') === 1);
    expect(s.writes()).toEqual(['POST Zig']);
    expect(on.daemon.events('approval_lapsed', 'acme')).toEqual([]);

    const next = await on.sync();
    expect(next).toMatchObject({ status: 'planned', plan: { summary: { create: 0, delete: 1, hold: 0 } } });
    expect(await on.account()).toMatchObject({ pending: { digest: next.planDigest } });
  },
);

costly(
  'pause and resume work on the command line and over HTTP, can be repeated, and survive a restart',
  async () => {
    const on = await stage({
      skills: ['Go'],
      file: `mode: apply\nschedule: ${EVERY_SECOND}\nskills: [Go, Zig]`,
    });
    const { s } = on;
    let { daemon } = on;
    await s.until('it has converged', () => daemon.runsEnded('acme', 'converged') > 0);

    for (const _ of [1, 2]) expect((await s.run(['pause', 'acme'])).status).toBe(0);
    await s.until('the account is idle', async () => (await on.account()).activity === 'idle');
    expect(await on.account()).toMatchObject({ paused: true });
    await daemon.stop();
    const rows = s.rows('select id from runs');

    daemon = await startDaemon(s);
    const again = onStage(s, daemon);
    expect(await again.account()).toMatchObject({ paused: true });
    expect((await daemon.metrics()).get('rolecall_paused{account="acme"}')).toBe(1);
    s.sandbox.removeEntry('acme', s.idOf('Zig'));
    const tick = async () =>
      (await daemon.metrics()).get('rolecall_next_run_timestamp_seconds{account="acme"}') ?? 0;
    const first = await tick();
    await s.until('a tick has passed', async () => (await tick()) > first);
    expect((await again.account()).nextRunAt).toBeNull();
    expect(s.rows('select id from runs')).toEqual(rows);

    // A requested run starts although the account is paused.
    expect(await again.sync()).toMatchObject({ trigger: 'manual', status: 'converged', created: 1 });
    expect(await again.account()).toMatchObject({ paused: true });

    for (const _ of [1, 2]) {
      expect(await daemon.api('accounts/acme/resume', {})).toEqual({
        status: 200,
        body: { status: 'resumed' },
      });
    }
    const before = daemon.runsEnded('acme');
    await s.until('it runs on its schedule', () => daemon.runsEnded('acme') > before);
    expect(await daemon.api('accounts/acme/pause', {})).toEqual({ status: 200, body: { status: 'paused' } });
    expect((await s.run(['resume', 'acme'])).status).toBe(0);
    expect(await again.account()).toMatchObject({ paused: false });

    expect((await s.run(['pause', 'nobody'])).status).toBe(64);
    expect((await daemon.api('accounts/nobody/pause', {})).status).toBe(404);
    expect(s.rows('select name from accounts')).toEqual([{ name: 'acme' }]);
  },
);

test('a run that a guard blocked waits for an approval even in apply mode, and the approval releases it once', async () => {
  const skills = Array.from({ length: 12 }, (_, index) => `S${index}`);
  const on = await stage({ skills, file: `mode: apply\nskills: [${skills.join(', ')}]` });
  const { s, daemon } = on;
  await s.until('it has converged', () => daemon.runsEnded('acme', 'converged') > 0);
  expect((await s.run(['approve', 'acme'])).status).toBe(1);

  for (const name of skills.slice(0, 10)) s.sandbox.removeEntry('acme', s.idOf(name));
  const blocked = await on.sync();
  expect(blocked).toMatchObject({ status: 'blocked', created: 0 });
  const { pending } = await on.account();
  expect(pending?.digest).toBe(blocked.planDigest);
  expect((await s.run(['approve', 'acme', 'sha256:00000000'])).status).toBe(5);
  expect((await on.sync()).status).toBe('blocked');
  expect(s.writes()).toEqual([]);

  expect((await s.run(['approve', 'acme', pending?.digest ?? ''])).status).toBe(0);
  await s.until('it is released', () => daemon.runsEnded('acme', 'converged') > 1);
  expect(s.names().skills).toEqual(skills.toSorted());
  expect(s.writes()).toHaveLength(10);
  expect(await on.account()).toMatchObject({ pending: null, approved: null });

  for (const name of skills.slice(0, 10)) s.sandbox.removeEntry('acme', s.idOf(name));
  expect((await on.sync()).status).toBe('blocked');
  expect(s.writes()).toHaveLength(10);
});

costly('a backup made while the daemon writes is a valid store', async () => {
  const bulk = Array.from({ length: 250 }, (_, index) => `Skill ${index}`);
  const on = await stage({ skills: ['Go'], file: 'mode: apply\nskills: [Go]' });
  const { s, daemon } = on;
  await s.until('it has converged', () => daemon.runsEnded('acme', 'converged') > 0);
  s.sandbox.setSettings({ latencyMs: 30 });
  await daemon.edit(() => s.configure(`mode: apply\nskills: [Go, ${bulk.join(', ')}]`));
  expect((await daemon.api('accounts/acme/sync', {})).status).toBe(202);
  await s.until('the run has created some entries', () => s.names().skills.length > 10);

  const file = join(s.folder, 'copies.db');
  for (const _ of [1, 2]) {
    const { status, stdout, stderr } = await s.run(['backup', file]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toContain(file);
  }
  expect(await on.account()).toMatchObject({ activity: 'running' });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect([`${file}-wal`, `${file}-shm`].filter((beside) => existsSync(beside))).toEqual([]);
  expectValidCopy(file);
  await s.until('the run ends undisturbed', () => daemon.runsEnded('acme', 'converged') > 1);
  expect(daemon.events('run_failed')).toEqual([]);
  await daemon.stop();

  // With the copy as the store, the unfinished run is found and the account converges.
  s.write('elsewhere/rolecall.yaml', `store: ../copies.db\naccounts: ../config/accounts/*.yaml\n`);
  const elsewhere = { withoutConfig: true } as const;
  const config = ['--config', join(s.folder, 'elsewhere/rolecall.yaml')];
  const history = await s.run([...config, 'history', '--format', 'json'], elsewhere);
  expect(history.status).toBe(0);
  expect(arrayOf<RunJson>(history)).toHaveLength(2);
  const applied = await s.run([...config, 'apply', '--yes', '--format', 'json'], elsewhere);
  expect(arrayOf<RunJson>(applied)).toMatchObject([{ status: 'converged' }]);
  expect(s.names().skills).toHaveLength(251);
});

/** Checks the copy with SQLite alone, without rolecall. */
function expectValidCopy(file: string): void {
  const copy = new SQLite(file, { readonly: true, fileMustExist: true });
  try {
    expect(copy.pragma('integrity_check', { simple: true })).toBe('ok');
    expect(copy.pragma('foreign_key_check')).toEqual([]);
    const numberOf = (what: string): unknown => copy.prepare(`select count(*) from ${what}`).pluck().get();
    expect(numberOf(`operations where status = 'done'`)).toBeGreaterThan(0);
    expect(numberOf(`runs where status = 'running'`)).toBe(1);
    expect(numberOf(`runs where status = 'converged'`)).toBe(1);
  } finally {
    copy.close();
  }
}

test('a backup does not replace the store or a file that is not a copy', async () => {
  const s = await scene({ file: 'skills: [Go]' });
  expect(await s.run(['backup', 'copy.db'])).toMatchObject({ status: 1, stdout: '' });
  await s.apply();
  s.write('notes.txt', 'mine');
  expect(await s.run(['backup', 'notes.txt'])).toMatchObject({ status: 1, stdout: '' });
  expect(readFileSync(join(s.folder, 'notes.txt'), 'utf8')).toBe('mine');
  expect(await s.run(['backup', 'data/rolecall.db'])).toMatchObject({ status: 1, stdout: '' });
  expect((await s.apply()).run.status).toBe('converged');
});
