// One break: the program is stopped for good at one point, run again until it has come to an end, and once more.
import { table } from './table.ts';
import { autopsy, type Autopsy, type Broken, breaches } from './crash-judge.ts';
import { APPLY, CREATED, type CrashScene, HELD, MAY_GO, type Strike } from './crash-scene.ts';
import type { Arrival } from './gate.ts';
import type { RunJson } from './scene.ts';
import type { Running } from './workspace.ts';

/** Places outside of the process: the request never gets there; its effect comes late; its answer never comes. */
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
  'went on with the rest',
  'found to be done',
  'sent again',
  'was over',
] as const;

/** What came of a point that did not go wrong. */
export type Outcome = (typeof OUTCOMES)[number];

export interface Verdict {
  readonly point: Point;
  readonly outcome: Outcome;
  /** How many runs it took to come to an end. */
  readonly runs: number;
  readonly breaches: readonly string[];
}

/** Starts what is to be broken off: with the strike, or as it is and held from outside. */
export type Start = (strike: Strike | undefined) => Running;

/** Starts the process and stops it for good at the point. Resolves with whether that point came. */
export async function breakOff(scene: CrashScene, point: Point, start: Start): Promise<boolean> {
  const { gate } = scene;
  gate.phase = BROKEN;
  if (!isHold(point)) {
    const { at, nth } = point;
    const { signal } = await start({ at, nth, signal: 'SIGKILL' }).ended;
    await gate.left();
    return signal === 'SIGKILL';
  }
  const held: { kill: () => Promise<unknown> } = { kill: () => Promise.resolve() };
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  const isIt = ({ nth, phase }: Arrival): boolean => phase === BROKEN && nth === point.nth;
  gate.watch = {
    async arrived(arrival) {
      if (point.at === 'unanswered' || !isIt(arrival)) return 'on';
      await held.kill();
      if (point.at === 'lost') return 'broken';
      // Whoever comes next has read all lists before this request comes to effect.
      await released;
      return 'on';
    },
    async answered(arrival) {
      if (point.at === 'unanswered' && isIt(arrival)) {
        await held.kill();
        return 'broken';
      }
      const listed = gate.arrivals.filter(({ method, phase }) => method === 'GET' && phase !== BROKEN).length;
      if (listed >= 3) release();
      return 'on';
    },
  };
  const running = start(undefined);
  held.kill = async () => {
    running.process.kill('SIGKILL');
    return await running.ended;
  };
  const { signal } = await running.ended;
  await gate.left();
  return signal === 'SIGKILL';
}

export const BROKEN = 'broken';
const MOST_RUNS = 3;

function isHold(point: Point): point is Point & Hold {
  return point.at === 'lost' || point.at === 'late' || point.at === 'unanswered';
}

/** Breaks `apply` off at a point, and judges what comes of it. */
export async function tryApply(scene: CrashScene, point: Point): Promise<Verdict> {
  const reached = await breakOff(scene, point, (strike) =>
    scene.start(APPLY, strike === undefined ? {} : { strike }),
  );
  return await judgeAfter(scene, point, reached, await goOn(scene));
}

interface Recovery {
  readonly runs: number;
  readonly breaches: readonly string[];
}

/** Runs `apply` until it has come to an end, as somebody would who knows nothing of the break. */
export async function goOn(scene: CrashScene): Promise<Recovery & { readonly broken: Autopsy }> {
  const broken = autopsy(scene.store);
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

/** One run more, which has nothing to do; then everything is looked at. */
export async function judgeAfter(
  scene: CrashScene,
  point: Point,
  reached: boolean,
  recovery: Recovery & { readonly broken: Autopsy },
): Promise<Verdict> {
  const { gate, workspace } = scene;
  gate.phase = 'further';
  const further = await workspace.run([...APPLY, '--allow-held']);
  const writes = gate.arrivals.filter(({ method, phase }) => method !== 'GET' && phase === 'further');
  const end = autopsy(scene.store);
  const brokenRun = recovery.broken.runs.at(-1);
  const broken: Broken = { runId: brokenRun?.id ?? null, phase: BROKEN, late: point.at === 'late' };
  const found = [
    ...recovery.breaches,
    ...(recovery.broken.sound === 'ok' ? [] : [`it left the store unsound: ${recovery.broken.sound}`]),
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

/** A run that was broken off is told as interrupted; one that had come to its end stays as it was. */
function statusBreaches(then: string | undefined, now: string | undefined): string[] {
  const wanted = then === 'running' ? 'interrupted' : then;
  return now === wanted ? [] : [`the broken run was ${then}, and is told as ${now}`];
}

/** Over all runs each create and each delete has happened once. */
function totals({ gate }: CrashScene, reached: boolean): string[] {
  const count = (wanted: string): number =>
    gate.arrivals.filter(({ effect, method }) => effect && method === wanted).length;
  const [created, deleted] = [count('POST'), count('DELETE')];
  const wrong = created !== CREATED || deleted !== MAY_GO.length;
  return wrong
    ? [`${created} creates and ${deleted} deletes came to effect${reached ? '' : ', undisturbed'}`]
    : [];
}

function outcomeOf(broken: Autopsy, end: Autopsy, reached: boolean): Outcome {
  if (!reached) return 'not reached';
  const run = broken.runs.at(-1);
  if (run === undefined) return 'nothing journaled';
  if (run.status !== 'running') return 'was over';
  const own = broken.operations.filter(({ run_id }) => run_id === run.id);
  const doubts = own.filter(({ status }) => status === 'sent');
  const now = doubts.map(
    ({ seq }) => end.operations.find((row) => row.run_id === run.id && row.seq === seq)?.status,
  );
  if (now.includes('unknown')) return 'sent again';
  if (now.length > 0) return 'found to be done';
  return own.some(({ status }) => status === 'done') ? 'went on with the rest' : 'nothing sent';
}

/** A row for each kind of point, with how many came to what. */
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

/** What went wrong, each with its point. */
export function wrongs(verdicts: readonly Verdict[]): string[] {
  return verdicts.flatMap(({ point, breaches: found }) =>
    found.map((breach) => `${point.row} ${point.nth} (${point.what}): ${breach}`),
  );
}

/**
 * The verdicts on points that were not reached, when they are more than chance explains: the requests of a run are the
 * same in number each time; how its results fall into transactions is not quite.
 */
export function missed<V extends { readonly outcome: string }>(verdicts: readonly V[]): readonly V[] {
  const found = verdicts.filter(({ outcome }) => outcome === 'not reached');
  return found.length < Math.max(2, verdicts.length / 10) ? [] : found;
}
