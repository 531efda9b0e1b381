// A day of the daemon as a process, on a compressed clock. After every step the journal, the metrics, the API, the log
// and the notices of the webhook agree.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import {
  type Daemon,
  EVERY_SECOND,
  HTTP_TOKEN,
  ONCE_A_YEAR,
  samplesOf,
  startDaemon,
  WITH_TOKEN,
} from '../support/daemon.ts';
import { NOTIFY, type Receiver, startReceiver } from '../support/receiver.ts';
import { makeWorkspace, QUICK_API, until, type Workspace } from '../support/workspace.ts';

interface Day {
  /** The region of acme. */
  readonly us: Sandbox;
  /** The region of beta, which stops and starts again on the same port with the same data. */
  eu: Sandbox;
  readonly workspace: Workspace;
  readonly receiver: Receiver;
  daemon: Daemon;
  /** When this process of the daemon was started, and how many notices had arrived by then. */
  since: { readonly at: string; readonly notices: number };
  /** How many notices of each account have been checked. */
  readonly checkedNotices: Map<string, number>;
}

interface RunRow {
  readonly id: string;
  readonly account: string;
  readonly trigger: string;
  readonly status: string;
  readonly started_at: string;
  readonly finished_at: string | null;
  readonly created: number;
  readonly deleted: number;
  readonly failed: number;
  readonly error_code: string | null;
}

interface AccountJson {
  readonly name: string;
  readonly valid: boolean;
  readonly issues: readonly string[];
  readonly paused: boolean;
  readonly activity: string;
  readonly nextRunAt: string | null;
  readonly consecutiveFailures: number;
  readonly drift: { readonly create: number; readonly delete: number } | null;
  readonly pending: { readonly digest: string; readonly runId: string } | null;
  readonly lastRun: { readonly id: string; readonly status: string } | null;
  readonly lastSuccessAt: string | null;
}

const BULK = Array.from({ length: 300 }, (_, index) => `Skill ${index}`);

function serviceFile({ us, eu }: { us: Sandbox; eu: Sandbox }): string {
  return [
    'accounts: accounts/*.yaml',
    'store: ../data/rolecall.db',
    `regions: { us: "${us.url}", eu: "${eu.url}" }`,
    `api: ${QUICK_API}`,
    `defaults: { mode: apply, schedule: ${EVERY_SECOND} }`,
    WITH_TOKEN,
    NOTIFY,
    '',
  ].join('\n');
}

async function startDay(): Promise<Day> {
  const workspace = makeWorkspace('not-used');
  mkdirSync(join(workspace.folder, 'services'));
  const us = await startSandbox({
    seed: {
      accounts: [
        {
          name: 'acme',
          id: '1',
          token: 'token-of-acme',
          skills: ['Perl'],
          resources: [{ skills: ['Perl'] }],
        },
      ],
    },
  });
  onTestFinished(() => us.close());
  const eu = await startEu(workspace, 0);
  workspace.write('config/rolecall.yaml', serviceFile({ us, eu }));
  workspace.write('secrets/acme', 'token-of-acme\n');
  const receiver = await startReceiver();
  const day = { us, eu, workspace, receiver, checkedNotices: new Map<string, number>() };
  acme(day, 'skills: [Go, Rust]');
  beta(day, 'skills: [Lathe]\nroles: [Welder]');
  return { ...day, ...(await serve(day)) };
}

async function startEu({ folder }: Workspace, port: number): Promise<Sandbox> {
  const eu = await startSandbox({
    port,
    dataFile: join(folder, 'services/eu.db'),
    seed: { accounts: [{ name: 'beta', id: '2', token: 'token-of-beta', resources: [{ id: 'someone' }] }] },
  });
  onTestFinished(() => eu.close());
  return eu;
}

async function serve({
  workspace,
  receiver,
}: Pick<Day, 'workspace' | 'receiver'>): Promise<Pick<Day, 'daemon' | 'since'>> {
  const since = { at: new Date().toISOString(), notices: receiver.notices().length };
  const env = { ...receiver.env, BETA_TOKEN: 'token-of-beta' };
  return { since, daemon: await startDaemon(workspace, { env }) };
}

function acme({ workspace }: Pick<Day, 'workspace'>, lines: string): void {
  workspace.write('config/accounts/acme.yaml', `region: us\ntoken: { file: ../../secrets/acme }\n${lines}\n`);
}

function beta({ workspace }: Pick<Day, 'workspace'>, lines: string): void {
  workspace.write('config/accounts/beta.yaml', `region: eu\ntoken: { env: BETA_TOKEN }\n${lines}\n`);
}

function names(sandbox: Sandbox, account: string): string[] {
  const { skills, roles } = sandbox.state(account);
  return [...skills, ...roles].map(({ name }) => name).toSorted();
}

function idOf(sandbox: Sandbox, account: string, name: string): string {
  const { skills, roles } = sandbox.state(account);
  return [...skills, ...roles].find((entry) => entry.name === name)?.id ?? '';
}

function runs({ workspace }: Pick<Day, 'workspace'>, account: string): readonly RunRow[] {
  return workspace.rows<RunRow>('select * from runs where account = ? order by id', account);
}

async function account({ daemon }: Day, name: string): Promise<AccountJson> {
  const { status, body } = await daemon.api<AccountJson>(`accounts/${name}`);
  expect(status).toBe(200);
  return body;
}

/** Waits until `count` more runs of the account have ended with the status. */
async function moreRuns(day: Day, name: string, status: string, count = 1): Promise<void> {
  const before = day.daemon.runsEnded(name, status);
  await until(
    `${count} more runs of ${name} have ended ${status}`,
    () => day.daemon.runsEnded(name, status) >= before + count,
  );
}

/** Expects exactly these notices since the last call, by account. */
async function expectNotices(day: Day, expected: Readonly<Record<string, readonly string[]>>): Promise<void> {
  const fresh = (): Record<string, string[]> => {
    const byAccount: Record<string, string[]> = {};
    for (const { data, type } of day.receiver.notices()) (byAccount[data.account] ??= []).push(type);
    return Object.fromEntries(
      Object.entries(byAccount)
        .map(([name, types]) => [name, types.slice(day.checkedNotices.get(name) ?? 0)] as const)
        .filter(([, types]) => types.length > 0),
    );
  };
  const enough = (): boolean =>
    Object.entries(expected).every(([name, types]) => (fresh()[name]?.length ?? 0) >= types.length);
  await until('the notices have arrived', enough).catch(() => undefined);
  expect(fresh()).toEqual(expected);
  for (const [name, types] of Object.entries(expected)) {
    day.checkedNotices.set(name, (day.checkedNotices.get(name) ?? 0) + types.length);
  }
}

interface Summary {
  readonly runs: Readonly<Record<string, number>>;
  readonly operations: Readonly<Record<string, number>>;
  /** By account: its newest run, and when one last succeeded. */
  readonly newest: Readonly<Record<string, unknown>>;
  readonly notices: number;
}

function count(keys: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const key of keys) counts[key] = (counts[key] ?? 0) + 1;
  return counts;
}

/** What the journal and the receiver report about the time since the daemon's start. */
function journalSummary({ workspace, since, receiver }: Day): Summary {
  const ended = workspace.rows<RunRow>('select * from runs where started_at >= ?', since.at);
  const operations = workspace.rows<Record<string, string>>(
    `select account, kind, action, operations.status as result from operations
       join runs on runs.id = run_id where runs.started_at >= ? and operations.status != 'held'`,
    since.at,
  );
  const newest = ['acme', 'beta'].map((name) => {
    const [last] = workspace.rows<RunRow>(
      'select * from runs where account = ? order by id desc limit 1',
      name,
    );
    const [success] = workspace.rows<RunRow>(
      `select * from runs where account = ? and status in ('converged', 'held', 'planned') order by id desc limit 1`,
      name,
    );
    return [name, [last?.id, last?.status, success?.finished_at]];
  });
  return {
    runs: count(ended.map(({ account: name, status }) => `account="${name}",status="${status}"`)),
    operations: count(
      operations.map((row) =>
        ['account', 'kind', 'action', 'result'].map((label) => `${label}="${row[label]}"`).join(),
      ),
    ),
    newest: Object.fromEntries(newest),
    notices: receiver.notices().length - since.notices,
  };
}

/** What the metrics, the API and the log report about the same time. */
async function publishedSummary({ daemon }: Day): Promise<Summary & { readonly logged: Summary['runs'] }> {
  const samples = await daemon.metrics();
  const { body } = await daemon.api<{ accounts: readonly AccountJson[] }>('accounts');
  const sums = (metric: string): Record<string, number> =>
    Object.fromEntries(
      [...samples].flatMap(([name, value]) =>
        name.startsWith(`${metric}{`) ? [[name.slice(metric.length + 1, -1), value]] : [],
      ),
    );
  const newest = body.accounts.map(({ name, lastRun, lastSuccessAt }) => {
    const success = samples.get(`rolecall_last_success_timestamp_seconds{account="${name}"}`);
    const seen = success === undefined ? null : new Date(Math.round(success * 1000)).toISOString();
    return [name, [lastRun?.id, lastRun?.status, seen === lastSuccessAt ? seen : [seen, lastSuccessAt]]];
  });
  return {
    runs: sums('rolecall_runs_total'),
    operations: sums('rolecall_operations_total'),
    newest: Object.fromEntries(newest),
    notices: samples.get('rolecall_notifications_total{target="json",result="delivered"}') ?? 0,
    logged: count(
      daemon.events('run_ended').map((line) => `account="${line.account}",status="${line.status}"`),
    ),
  };
}

/**
 * Expects journal, metrics, API, log and notices to agree. Runs continue meanwhile, so it waits for a moment between
 * two.
 */
async function allAgree(day: Day): Promise<void> {
  const read = async (): Promise<readonly [journal: unknown, published: unknown]> => {
    const published = await publishedSummary(day);
    const journal = journalSummary(day);
    return [{ ...journal, logged: journal.runs }, published];
  };
  let last: readonly [unknown, unknown] = [null, undefined];
  await until('journal, metrics, API and log agree', async () => {
    last = await read();
    return JSON.stringify(sorted(last[0])) === JSON.stringify(sorted(last[1]));
  }).catch(() => undefined);
  expect(last[1]).toEqual(last[0]);

  for (const { type, timestamp, data } of day.receiver.notices()) {
    const [run] = day.workspace.rows<RunRow>('select * from runs where id = ?', data.runId);
    expect({ type, ...data, timestamp }).toMatchObject({
      account: run?.account,
      status: run?.status,
      created: run?.created,
      deleted: run?.deleted,
      failed: run?.failed,
      timestamp: run?.finished_at,
    });
  }
  expect(day.receiver.refused()).toEqual([]);
  const ids = day.receiver.notices().map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
}

/** The same value with the keys of its objects in order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  );
}

const PROMISED = {
  rolecall_runs_total: 'counter',
  rolecall_run_duration_seconds: 'histogram',
  rolecall_last_success_timestamp_seconds: 'gauge',
  rolecall_drift: 'gauge',
  rolecall_held: 'gauge',
  rolecall_entries: 'gauge',
  rolecall_operations_total: 'counter',
  rolecall_api_requests_total: 'counter',
  rolecall_api_request_duration_seconds: 'histogram',
  rolecall_api_retries_total: 'counter',
  rolecall_config_valid: 'gauge',
  rolecall_skipped_ticks_total: 'counter',
  rolecall_build_info: 'gauge',
};

test('a day of the daemon: journal, metrics and notifications agree at every step', async () => {
  const day = await startDay();
  await startsAndConverges(day);
  await repairsManualChanges(day);
  await containsABadEdit(day);
  await usesTheFixedFile(day);
  await survivesARegionOutage(day);
  await recoversWithTheRegion(day);
  await reloadsOnSighup(day);
  await stopsCleanlyDuringAnApply(day);
  await catchesUpAfterItsRestart(day);
  await day.daemon.stop();
  leavesNothingOpen(day);
});

async function startsAndConverges(day: Day): Promise<void> {
  expect(await day.daemon.get('/healthz')).toMatchObject({ status: 200 });
  await until(
    'both accounts match their files',
    () => day.daemon.runsEnded('acme', 'held') > 0 && day.daemon.runsEnded('beta', 'converged') > 0,
  );
  expect(names(day.us, 'acme')).toEqual(['Go', 'Perl', 'Rust']);
  expect(names(day.eu, 'beta')).toEqual(['Lathe', 'Welder']);
  expect(runs(day, 'acme')[0]).toMatchObject({ trigger: 'start', status: 'held', created: 2 });
  await expectNotices(day, { acme: ['applied', 'held'], beta: ['applied'] });
  expect(day.receiver.notices('acme')[1]?.data.summary).toMatchObject({ hold: 1 });
  const samples = await day.daemon.metrics();
  expect(samples.get('rolecall_held{account="acme",kind="skill",rule="in_use"}')).toBe(1);
  expect(samples.get('rolecall_drift{account="beta",kind="skill",action="create"}')).toBe(0);
  await allAgree(day);
}

async function repairsManualChanges(day: Day): Promise<void> {
  day.eu.removeEntry('beta', idOf(day.eu, 'beta', 'Lathe'));
  day.eu.addSkill('beta', 'Stray');
  await until('the drift is repaired', () => names(day.eu, 'beta').join() === 'Lathe,Welder');
  await expectNotices(day, { beta: ['applied'] });
  expect(day.receiver.notices('beta').at(-1)?.data).toMatchObject({ created: 1, deleted: 1 });
  await allAgree(day);
  const { status, text } = await day.daemon.get('/metrics');
  expect(status).toBe(200);
  for (const [name, type] of Object.entries(PROMISED)) expect(text).toContain(`\n# TYPE ${name} ${type}\n`);
  const samples = samplesOf(text);
  expect(samples.get('rolecall_entries{account="acme",kind="skill"}')).toBe(3);
  expect(samples.get('rolecall_api_requests_total{account="beta",method="POST",status="201"}')).toBe(3);
  expect(
    [...samples.keys()].filter((name) => /^rolecall_process_cpu_seconds_total\b/.test(name)),
  ).toHaveLength(1);
  expect(text).not.toMatch(/token-of-|Lathe|Perl/);
}

async function containsABadEdit(day: Day): Promise<void> {
  acme(day, 'skills: [Go, Go]\nscedule: daily');
  await moreRuns(day, 'acme', 'failed');
  await moreRuns(day, 'beta', 'converged');
  const shown = await account(day, 'acme');
  expect(shown).toMatchObject({ valid: false, drift: { create: 0, delete: 0 } });
  expect(shown.issues.join('\n')).toMatch(/acme\.yaml:\d+:\d+: .*did you mean/);
  await expectNotices(day, { acme: ['failed'] });
  const { data } = day.receiver.notices('acme').at(-1) ?? {};
  expect(data?.error).toMatchObject({ code: 'config_invalid' });
  const samples = await day.daemon.metrics();
  expect(samples.get('rolecall_config_valid{account="acme"}')).toBe(0);
  expect(samples.get('rolecall_config_valid{account="beta"}')).toBe(1);
  expect(day.daemon.output().stderr).toMatch(/acme\.yaml:\d+:\d+: .*did you mean/);
  expect(await day.daemon.get('/readyz')).toMatchObject({ status: 200 });
  expect(names(day.us, 'acme')).toEqual(['Go', 'Perl', 'Rust']);
  await allAgree(day);
}

async function usesTheFixedFile(day: Day): Promise<void> {
  acme(day, 'skills: [Go, Nim, Rust]');
  await moreRuns(day, 'acme', 'held');
  expect(names(day.us, 'acme')).toEqual(['Go', 'Nim', 'Perl', 'Rust']);
  await expectNotices(day, { acme: ['applied', 'recovered'] });
  expect(await account(day, 'acme')).toMatchObject({ valid: true, issues: [], consecutiveFailures: 0 });
  expect((await day.daemon.metrics()).get('rolecall_config_valid{account="acme"}')).toBe(1);
  await allAgree(day);
}

async function survivesARegionOutage(day: Day): Promise<void> {
  await day.eu.close();
  await moreRuns(day, 'beta', 'failed', 2);
  await expectNotices(day, { beta: ['failed'] });
  expect(day.receiver.notices('beta').at(-1)?.data).toMatchObject({
    status: 'failed',
    error: { code: 'unavailable' },
  });
  const { consecutiveFailures } = await account(day, 'beta');
  expect(consecutiveFailures).toBeGreaterThanOrEqual(2);
  const samples = await day.daemon.metrics();
  expect(
    samples.get('rolecall_api_requests_total{account="beta",method="GET",status="error"}'),
  ).toBeGreaterThan(0);
  expect(samples.get('rolecall_api_retries_total{account="beta"}')).toBeGreaterThan(0);
  await moreRuns(day, 'acme', 'held');
  await allAgree(day);
}

async function recoversWithTheRegion(day: Day): Promise<void> {
  day.eu = await startEu(day.workspace, Number(new URL(day.eu.url).port));
  await moreRuns(day, 'beta', 'converged');
  await expectNotices(day, { beta: ['recovered'] });
  expect(await account(day, 'beta')).toMatchObject({ consecutiveFailures: 0 });
  expect(day.eu.requests().filter(({ method }) => method !== 'GET')).toEqual([]);
  await allAgree(day);
}

async function reloadsOnSighup(day: Day): Promise<void> {
  beta(day, `schedule: ${ONCE_A_YEAR}\nskills: [Lathe]\nroles: [Welder]`);
  day.daemon.process.kill('SIGHUP');
  await until('the schedule is the new one', async () =>
    /^\d{4}-01-01T00:00:00/.test((await account(day, 'beta')).nextRunAt ?? ''),
  );
  await expect.poll(() => day.daemon.events('reloading')).toHaveLength(1);
  expect(
    (await day.daemon.metrics()).get('rolecall_schedule_interval_seconds{account="beta"}'),
  ).toBeGreaterThanOrEqual(365 * 86_400);
  await until('beta is idle', async () => (await account(day, 'beta')).activity === 'idle');
  await expectNotices(day, {});
  await allAgree(day);
}

async function stopsCleanlyDuringAnApply(day: Day): Promise<void> {
  day.us.setSettings({ latencyMs: 40 });
  acme(day, `skills: [Go, Nim, Rust, ${BULK.join(', ')}]`);
  const createdCount = (): number => names(day.us, 'acme').filter((name) => name.startsWith('Skill ')).length;
  await until('the run has created some entries', () => createdCount() >= 20);
  await day.daemon.stop();

  const run = runs(day, 'acme').at(-1);
  expect(createdCount()).toBeLessThan(BULK.length);
  expect(run).toMatchObject({ status: 'interrupted', created: createdCount(), error_code: 'interrupted' });
  const outcomes = day.workspace.rows<{ status: string }>(
    'select status from operations where run_id = ?',
    run?.id,
  );
  expect(count(outcomes.map(({ status }) => status))).toEqual({
    done: createdCount(),
    skipped: BULK.length - createdCount(),
    held: 1,
  });
  expect(day.us.requests().every(({ status }) => status !== null)).toBe(true);
  day.us.setSettings({ latencyMs: 0 });
}

async function catchesUpAfterItsRestart(day: Day): Promise<void> {
  const interrupted = runs(day, 'acme').at(-1);
  day.us.removeEntry('acme', idOf(day.us, 'acme', 'Rust'));
  const stoppedAtMs = Date.now();
  await until('a tick has been missed', () => Date.now() > stoppedAtMs + 1000);
  Object.assign(day, await serve(day));
  await until('acme matches its file', () => day.daemon.runsEnded('acme', 'held') > 0);

  const [caughtUp] = runs(day, 'acme').filter(({ started_at }) => started_at >= day.since.at);
  expect(caughtUp).toMatchObject({
    // The interrupted run is due again; on a busy machine the tick of the next second comes first.
    trigger: expect.stringMatching(/^(?:start|catch_up|schedule)$/),
    created: BULK.length - (interrupted?.created ?? 0) + 1,
  });
  expect(names(day.us, 'acme')).toEqual(['Go', 'Nim', 'Perl', 'Rust', ...BULK].toSorted());
  // Notices of the interrupted run were sent before the end, or wait for the next start: by now both are delivered.
  await expectNotices(day, { acme: ['applied', 'applied'] });
  expect(day.receiver.notices('acme').at(-2)?.data).toMatchObject({
    runId: interrupted?.id,
    status: 'interrupted',
  });
  expect(runs(day, 'beta').filter(({ started_at }) => started_at >= day.since.at)).toEqual([]);
  const answer = await fetch(`${day.daemon.url}/accounts/beta`, {
    headers: { authorization: `Bearer ${HTTP_TOKEN}` },
  });
  expect(answer.status).toBe(200);
  await expectNotices(day, {});
}

function leavesNothingOpen({ workspace, us, eu, daemon }: Day): void {
  expect(workspace.rows('select * from accounts where lease_run is not null')).toEqual([]);
  expect(workspace.rows(`select * from runs where status = 'running' or finished_at is null`)).toEqual([]);
  expect(
    workspace.rows(`select * from operations where status in ('pending', 'sent', 'unknown', 'failed')`),
  ).toEqual([]);
  expect(daemon.output().stderr).not.toMatch(/token-(?:of|that)-|part-of-the-address|whsec_/);
  for (const [sandbox, name] of [
    [us, 'acme'],
    [eu, 'beta'],
  ] as const) {
    const stored = names(sandbox, name);
    expect(new Set(stored).size).toBe(stored.length);
  }
}
