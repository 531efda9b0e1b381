// One break: kills the program at one point, runs it again until a run completes, then once more, and checks the
// result.
import { table } from './table.ts';
import { inspectStore, type StoreState, type Broken, breaches } from './crash-judge.ts';
import { APPLY, CREATED, type CrashScene, HELD, DELETABLE, type Strike } from './crash-scene.ts';
import type { Arrival } from './gate.ts';
import type { RunJson } from './scene.ts';
import type { Running } from './workspace.ts';

/** Points outside of the process: the request never arrives, takes effect late, or its response never arrives. */
export interface Hold {
  readonly at: 'lost' | 'late' | 'unanswered';
  readonly nth: number;
}

export type Point = (Pick<Strike, 'at' | 'nth'> | Hold) & {
  /** The row of the table in which it is counted. */
  readonly row: string;
  readonly what: string;
};

const OUTCOMES = [
  'not reached',
  'nothing journaled',
  'nothing sent',
  'continued with the rest',
  'found done',
  'sent again',
  'had ended',
] as const;

/** How a break ended. */
export type Outcome = (typeof OUTCOMES)[number];

export interface Verdict {
  readonly point: Point;
  readonly outcome: Outcome;
  /** How many runs it took until one completed. */
  readonly runs: number;
  readonly breaches: readonly string[];
}

/** Starts the process to break: with a strike, or without one when the gate breaks it. */
export type Start = (strike: Strike | undefined) => Running;

/** Starts the process and kills it at the point. Resolves with whether it reached the point. */
export async function breakOff(scene: CrashScene, point: Point, start: Start): Promise<boolean> {
  const { gate } = scene;
  gate.phase = BROKEN;
  if (!isHold(point)) {
    const { at, nth } = point;
    const { signal } = await start({ at, nth, signal: 'SIGKILL' }).ended;
    await gate.allDisconnected();
    return signal === 'SIGKILL';
  }
  const child: { kill: () => Promise<unknown> } = { kill: () => Promise.resolve() };
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  const isThisPoint = ({ nth, phase }: Arrival): boolean => phase === BROKEN && nth === point.nth;
  gate.watch = {
    async arrived(arrival) {
      if (point.at === 'unanswered' || !isThisPoint(arrival)) return 'on';
      await child.kill();
      if (point.at === 'lost') return 'broken';
      // The next process reads all lists before this request takes effect.
      await released;
      return 'on';
    },
    async answered(arrival) {
      if (point.at === 'unanswered' && isThisPoint(arrival)) {
        await child.kill();
        return 'broken';
      }
      const listed = gate.arrivals.filter(({ method, phase }) => method === 'GET' && phase !== BROKEN).length;
      if (listed >= 3) release();
      return 'on';
    },
  };
  const running = start(undefined);
  child.kill = async () => {
    running.process.kill('SIGKILL');
    return await running.ended;
  };
  const { signal } = await running.ended;
  await gate.allDisconnected();
  return signal === 'SIGKILL';
}

export const BROKEN = 'broken';
const MOST_RUNS = 3;

function isHold(point: Point): point is Point & Hold {
  return point.at === 'lost' || point.at === 'late' || point.at === 'unanswered';
}

/** Breaks an `apply` at a point and checks the result. */
export async function tryApply(scene: CrashScene, point: Point): Promise<Verdict> {
  const reached = await breakOff(scene, point, (strike) =>
    scene.start(APPLY, strike === undefined ? {} : { strike }),
  );
  return await judgeAfter(scene, point, reached, await runToCompletion(scene));
}

interface Recovery {
  readonly runs: number;
  readonly breaches: readonly string[];
}

/** Runs `apply` until a run completes, without any knowledge of the break. */
export async function runToCompletion(
  scene: CrashScene,
): Promise<Recovery & { readonly broken: StoreState }> {
  const broken = inspectStore(scene.store);
  for (let run = 1; run <= MOST_RUNS; run += 1) {
    scene.gate.phase = `run ${run}`;
    const { status, stdout, stderr } = await scene.workspace.run(APPLY);
    const [report] = status === 3 ? (JSON.parse(stdout) as RunJson[]) : [];
    if (report?.status === 'held' && report.held === HELD && stderr === '')
      return { runs: run, breaches: [], broken };
    if (run === MOST_RUNS) {
      return {
        runs: run,
        breaches: [`the last run ended with ${status}: ${stdout.slice(0, 400)} ${stderr}`],
        broken,
      };
    }
  }
  throw new Error('one of the runs is the last one');
}

/** Runs once more, with nothing to do, and then checks everything. */
export async function judgeAfter(
  scene: CrashScene,
  point: Point,
  reached: boolean,
  recovery: Recovery & { readonly broken: StoreState },
): Promise<Verdict> {
  const { gate, workspace } = scene;
  gate.phase = 'further';
  const further = await workspace.run([...APPLY, '--allow-held']);
  const writes = gate.arrivals.filter(({ method, phase }) => method !== 'GET' && phase === 'further');
  const end = inspectStore(scene.store);
  const brokenRun = recovery.broken.runs.at(-1);
  const broken: Broken = { runId: brokenRun?.id ?? null, phase: BROKEN, late: point.at === 'late' };
  const found = [
    ...recovery.breaches,
    ...(recovery.broken.integrity === 'ok' ? [] : [`it left a damaged store: ${recovery.broken.integrity}`]),
    ...(further.status === 0 && further.stderr === ''
      ? []
      : [`the further run ended with ${further.status} ${further.stderr}`]),
    ...writes.map(({ method, subject }) => `the further run sent ${method} ${subject}`),
    ...breaches(scene, end, broken),
    ...statusBreaches(brokenRun?.status, end.runs.find(({ id }) => id === brokenRun?.id)?.status),
    ...totals(scene, reached),
  ];
  return { point, outcome: outcomeOf(recovery.broken, end, reached), runs: recovery.runs, breaches: found };
}

/** The broken run is reported as interrupted; a run that had ended keeps its status. */
function statusBreaches(then: string | undefined, now: string | undefined): string[] {
  const wanted = then === 'running' ? 'interrupted' : then;
  return now === wanted ? [] : [`the broken run was ${then}, and is reported as ${now}`];
}

/** In all runs together each create and each delete took effect once. */
function totals({ gate }: CrashScene, reached: boolean): string[] {
  const count = (wanted: string): number =>
    gate.arrivals.filter(({ effect, method }) => effect && method === wanted).length;
  const [created, deleted] = [count('POST'), count('DELETE')];
  const wrong = created !== CREATED || deleted !== DELETABLE.length;
  return wrong
    ? [`${created} creates and ${deleted} deletes took effect${reached ? '' : ' without a break'}`]
    : [];
}

function outcomeOf(broken: StoreState, end: StoreState, reached: boolean): Outcome {
  if (!reached) return 'not reached';
  const run = broken.runs.at(-1);
  if (run === undefined) return 'nothing journaled';
  if (run.status !== 'running') return 'had ended';
  const own = broken.operations.filter(({ run_id }) => run_id === run.id);
  const doubts = own.filter(({ status }) => status === 'sent');
  const now = doubts.map(
    ({ seq }) => end.operations.find((row) => row.run_id === run.id && row.seq === seq)?.status,
  );
  if (now.includes('unknown')) return 'sent again';
  if (now.length > 0) return 'found done';
  return own.some(({ status }) => status === 'done') ? 'continued with the rest' : 'nothing sent';
}

/** A row for each kind of point, with the number of points for each outcome. */
export function tableOf(verdicts: readonly Verdict[]): string {
  const rows = [...new Set(verdicts.map(({ point }) => point.row))];
  const head = ['kind of point', 'tried', ...OUTCOMES, 'most runs', 'wrong'];
  const lines = rows.map((row) => {
    const own = verdicts.filter(({ point }) => point.row === row);
    return [
      row,
      own.length,
      ...OUTCOMES.map((outcome) => own.filter((verdict) => verdict.outcome === outcome).length),
      Math.max(...own.map(({ runs }) => runs)),
      own.filter(({ breaches: found }) => found.length > 0).length,
    ].map(String);
  });
  return table(head, lines);
}

/** What was wrong, each with its point. */
export function failuresOf(verdicts: readonly Verdict[]): string[] {
  return verdicts.flatMap(({ point, breaches: found }) =>
    found.map((breach) => `${point.row} ${point.nth} (${point.what}): ${breach}`),
  );
}

/**
 * The verdicts of points that were not reached, if there are more than chance explains. A run always sends the same
 * number of requests, but the number of its transactions varies a little.
 */
export function unreached<V extends { readonly outcome: string }>(verdicts: readonly V[]): readonly V[] {
  const found = verdicts.filter(({ outcome }) => outcome === 'not reached');
  return found.length < Math.max(2, verdicts.length / 10) ? [] : found;
}
