// An apply that is stopped for longer than its lock is valid, while another process takes over the account, and that
// continues when the other one has ended.
import { join } from 'node:path';
import { SQLite } from '../../src/system/sqlite.ts';
import { afterAll, expect, test } from 'vitest';
import { unreached } from '../support/break-off.ts';
import {
  inspectStore,
  type StoreState,
  belongsTo,
  serviceBreaches,
  storeBreaches,
} from '../support/crash-judge.ts';
import {
  APPLY,
  type CrashScene,
  crashScene,
  type PassedPoint,
  severalAtATime,
  type Strike,
} from '../support/crash-scene.ts';
import type { Arrival } from '../support/gate.ts';
import { commitAll, git } from '../support/git.ts';
import type { RunJson } from '../support/scene.ts';
import { table } from '../support/table.ts';
import { hasStopped } from '../support/stopped.ts';
import { type Result, until } from '../support/workspace.ts';

const AT_A_TIME = 4;
const CONCURRENCY = 3;
/** Longer than a lock is valid after its last renewal. */
const SLEPT_MS = 31_000;

/** The phases of the gate: the stopped process, those that take over, the woken process, and one more run. */
const PHASES = { first: 'first', takers: 'takers', woken: 'woken', further: 'further' };

interface Pause {
  readonly at: Strike['at'];
  readonly nth: number;
  readonly what: string;
  readonly row: string;
  readonly takers: 1 | 2;
}

const OUTCOMES = [
  'not reached',
  'woken before its run',
  'lock lost',
  'continued',
  'woken after its run',
] as const;
type Outcome = (typeof OUTCOMES)[number];

interface Verdict {
  readonly pause: Pause;
  readonly outcome: Outcome;
  /** How many requests it sent after it was woken although another process had the account. */
  readonly late: number;
  readonly breaches: readonly string[];
}

const verdicts: Verdict[] = [];
afterAll(() => console.log(tableOf(verdicts)));

async function inGit(): Promise<{ scene: CrashScene; config: string }> {
  const scene = await crashScene();
  const config = join(scene.workspace.folder, 'config');
  git(config, ['init', '-q']);
  commitAll(config, 'first');
  return { scene, config };
}

/** Stops an apply at the point, lets others take over with their clocks `sleptMs` ahead, and wakes it. */
async function tryPause(pause: Pause, sleptMs: number): Promise<Verdict> {
  const { scene, config } = await inGit();
  try {
    return await pauseIn(scene, config, pause, sleptMs);
  } finally {
    await scene.close();
  }
}

async function pauseIn(scene: CrashScene, config: string, pause: Pause, sleptMs: number): Promise<Verdict> {
  const { gate, store } = scene;
  const { at, nth, takers: count } = pause;
  gate.phase = PHASES.first;
  const strike: Strike = { at, nth, signal: 'SIGSTOP', slept: sleptMs };
  const stopped = scene.start(APPLY, { strike });
  const reached = await hasStopped(stopped);
  if (!reached) return { pause, outcome: 'not reached', late: 0, breaches: [] };

  scene.workspace.write('config/README', 'Somebody has changed something meanwhile.');
  const second = commitAll(config, 'second', '2026-01-02T00:00:00Z');
  const before = inspectStore(store);
  const inTransaction = isLocked(store);
  gate.phase = PHASES.takers;
  const takers = Array.from({ length: count }, () =>
    scene.start([...APPLY, '--lock-timeout', '60s'], { aheadMs: sleptMs, trace: true }),
  );
  const over = Promise.all(takers.map(({ ended }) => ended));
  if (inTransaction) {
    const waits = () => scene.passed().some(({ what }) => /^\s*(?:begin|insert into acc)/i.test(what));
    await until('those who take over wait for the store', () => waits() || takers.some(hasEnded));
  } else {
    await over;
    gate.phase = PHASES.woken;
  }
  stopped.process.kill('SIGCONT');
  const [result, results] = await Promise.all([stopped.ended, over]);

  const { appliedFrom } = inspectStore(store);
  gate.phase = PHASES.further;
  const further = await scene.start([...APPLY, '--allow-held'], { aheadMs: sleptMs }).ended;
  const end = inspectStore(store);
  const own = before.runs.at(-1);
  const now = end.runs.find(({ id }) => id === own?.id);
  const late = lateRequests(scene);
  const breaches = [
    ...results.flatMap(takerBreaches),
    ...lateBreaches(late, before),
    ...duplicateBreaches(scene, late, further),
    ...storeBreaches(end),
    ...journalBreaches(scene, end, late),
    ...endBreaches(result, now?.status, now?.error_code),
    ...furtherBreaches(scene, further),
    ...(appliedFrom === second
      ? []
      : [`the account counts as applied from ${appliedFrom}, not from ${second}`]),
  ];
  const outcome: Outcome =
    own === undefined
      ? 'woken before its run'
      : own.status !== 'running'
        ? 'woken after its run'
        : now?.status === 'interrupted'
          ? 'lock lost'
          : 'continued';
  return { pause, outcome, late: late.length, breaches };
}

/**
 * Whether the stopped process holds the lock of the database, so that no other process can continue until it is woken.
 */
function isLocked(store: string): boolean {
  const database = new SQLite(store, { timeout: 0 });
  try {
    database.exec('begin immediate; rollback');
    return false;
  } catch {
    return true;
  } finally {
    database.close();
  }
}

function hasEnded({ process: child }: { process: { exitCode: number | null } }): boolean {
  return child.exitCode !== null;
}

/** What a run without a terminal prints while it works. */
const PROGRESS = /^acme: (waiting |reading the lists|planning|\d|verifying)/;

function takerBreaches({ status, stdout, stderr }: Result): string[] {
  const lines = stderr.split('\n').filter((line) => line !== '');
  const isWell = status === 3 && lines.every((line) => PROGRESS.test(line));
  return isWell ? [] : [`one that took over ended with ${status}: ${stderr} ${stdout.slice(0, 300)}`];
}

function lateRequests({ gate }: CrashScene): readonly Arrival[] {
  return gate.arrivals.filter(({ method, phase }) => method !== 'GET' && phase === PHASES.woken);
}

/** Late requests are allowed only for rows that were committed as `sent` before the stop. */
function lateBreaches(late: readonly Arrival[], before: StoreState): string[] {
  const run = before.runs.at(-1)?.id;
  const sent = before.operations.filter((row) => row.run_id === run && row.status === 'sent');
  const operations = new Set(late.map(({ method, kind, subject }) => `${method} ${kind} ${subject}`));
  const barred = late.filter((arrival) => !sent.some((row) => belongsTo(arrival, row)));
  return [
    ...barred.map(({ method, subject }) => `${method} ${subject} was sent after it was woken`),
    // A delete is repeated when its response is missing, which changes nothing.
    ...(operations.size > CONCURRENCY ? [`${operations.size} operations were sent after it was woken`] : []),
  ];
}

/** Only a create that was allowed to be sent late may exist twice, and then the next report names it. */
function duplicateBreaches(scene: CrashScene, late: readonly Arrival[], further: Result): string[] {
  const duplicates = late
    .filter(({ method, effect }) => method === 'POST' && effect)
    .map(({ subject }) => subject);
  const unreported = duplicates.filter(
    (name) => !new RegExp(`duplicate[^]*${name}|${name}[^]*duplicate`).test(further.stdout),
  );
  const breaches = serviceBreaches(scene);
  return [
    ...(duplicates.length === 0
      ? breaches
      : breaches.filter((each) => !/^the (skills|roles) are/.test(each))),
    ...unreported.map((name) => `the next report does not name the duplicate ${name}`),
  ];
}

/** Every request of every process has a row, and every operation that is reported as done was done. */
function journalBreaches(
  { gate }: CrashScene,
  { operations }: StoreState,
  late: readonly Arrival[],
): string[] {
  const writes = gate.arrivals.filter(({ method }) => method !== 'GET');
  const mismatches = operations.filter((row) => {
    const its = writes.filter((arrival) => belongsTo(arrival, row));
    if (row.status === 'done' && row.attempts > 0) return !its.some(({ effect }) => effect);
    return row.status === 'failed';
  });
  const rowless = writes.filter((arrival) => {
    const rows = operations.filter((row) => belongsTo(arrival, row));
    const done = rows.filter(({ status, attempts }) => status === 'done' && attempts > 0);
    return arrival.effect ? done.length === 0 : rows.length === 0;
  });
  const effects = writes.filter((arrival) => arrival.effect && !late.includes(arrival));
  const keys = effects.map(({ method, kind, subject }) => `${method} ${kind} ${subject}`);
  return [
    ...mismatches.map(({ action, name, status }) => `the ${action} of ${name} is reported as ${status}`),
    ...rowless.map(({ method, subject }) => `no row exists for ${method} ${subject}`),
    ...keys.filter((key, index) => keys.indexOf(key) !== index).map((key) => `${key} took effect twice`),
  ];
}

/** Expects 1 and `interrupted` for a run that was taken over, and a report that matches the journal. */
function endBreaches(
  { status, stdout, stderr }: Result,
  journaled: string | undefined,
  code: string | null | undefined,
): string[] {
  const [report] = JSON.parse(stdout === '' ? '[]' : stdout) as RunJson[];
  const wanted = report?.status === 'interrupted' ? 1 : 3;
  return [
    ...(status === wanted
      ? []
      : [`the woken one ended with ${status} and its report has the status ${report?.status} ${stderr}`]),
    ...(journaled === undefined || report?.status === journaled
      ? []
      : [`its report has the status ${report?.status}, the journal ${journaled}`]),
    ...(journaled === 'interrupted' && code !== 'interrupted' && code !== 'lock_lost'
      ? [`the journal gives ${code} as the reason`]
      : []),
  ];
}

function furtherBreaches({ gate }: CrashScene, { status, stderr }: Result): string[] {
  const writes = gate.arrivals.filter(({ method, phase }) => method !== 'GET' && phase === PHASES.further);
  return [
    ...(status === 0 && stderr === '' ? [] : [`the further run ended with ${status} ${stderr}`]),
    ...writes.map(({ method, subject }) => `the further run sent ${method} ${subject}`),
  ];
}

/** All points of an undisturbed run, as points to stop it. */
async function pauses(): Promise<Pause[]> {
  const { scene } = await inGit();
  try {
    expect((await scene.start(APPLY, { trace: true }).ended).status).toBe(3);
    return placesOf(scene.passed());
  } finally {
    await scene.close();
  }
}

/** Once between any two transactions, within some of them, and around requests. */
function placesOf(passed: readonly PassedPoint[]): Pause[] {
  const counts = new Map<string, number>();
  return passed.flatMap(({ at, what }, index): Pause[] => {
    const nth = (counts.get(at) ?? 0) + 1;
    counts.set(at, nth);
    const pause = { at, nth, what, takers: index % 3 === 0 ? 2 : 1 } as const;
    if (at === 'request') return [{ ...pause, row: 'before a request is sent' }];
    if (at === 'answer') return nth % 2 === 0 ? [{ ...pause, row: 'after a response arrived' }] : [];
    if (!/^commit/i.test(what)) return [];
    if (at === 'after-write') return [{ ...pause, row: 'between two transactions' }];
    return nth % 3 === 0 ? [{ ...pause, row: 'within a transaction' }] : [];
  });
}

function tableOf(all: readonly Verdict[]): string {
  const head = ['stopped', 'tried', ...OUTCOMES, 'late requests', 'wrong'];
  const lines = [...new Set(all.map(({ pause }) => pause.row))].map((row) => {
    const own = all.filter(({ pause }) => pause.row === row);
    return [
      row,
      own.length,
      ...OUTCOMES.map((outcome) => own.filter((verdict) => verdict.outcome === outcome).length),
      own.reduce((sum, { late }) => sum + late, 0),
      own.filter(({ breaches }) => breaches.length > 0).length,
    ].map(String);
  });
  return table(head, lines);
}

async function tryAll(places: readonly Pause[], sleptMs: number): Promise<void> {
  const tried = await severalAtATime(places, AT_A_TIME, (pause) => tryPause(pause, sleptMs));
  verdicts.push(...tried);
  const wrong = tried.flatMap(({ pause, breaches }) =>
    breaches.map((breach) => `${pause.row} ${pause.at} ${pause.nth} (${pause.what}): ${breach}`),
  );
  expect(wrong).toEqual([]);
  expect(unreached(tried)).toEqual([]);
}

test(
  'an apply that was stopped longer than its lock is valid sends only writes that are in the journal',
  { timeout: 900_000 },
  async () => {
    const places = await pauses();
    expect(places.length).toBeGreaterThan(50);
    await tryAll(places, SLEPT_MS);
  },
);
