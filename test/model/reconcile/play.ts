// Plays a script and checks every invariant after every step. Then the faults end, and the account must converge.
import type { RunResult } from '../../../src/run/run-result.ts';
import { runExit } from '../../../src/cli/exit-status.ts';
import { KINDS } from '../../../src/core/catalog.ts';
import type { Fault } from '../../../src/sandbox/sandbox.ts';
import { Traffic } from '../traffic.ts';
import { VirtualTime, type Watched } from '../virtual-time.ts';
import { judgeRun } from './after-run.ts';
import { receivedEntries, receivedPeople } from './received-lists.ts';
import { Ledger } from './ledger.ts';
import { exactly } from './names.ts';
import type { OracleContext, GoodLists, Watch } from './oracle.ts';
import { judgeArrival, hasForeignId, wishedOf } from './oracle.ts';
import type { RunStep, Script, Step, Trouble, Wish } from './script.ts';
import { PLAIN_RUN } from './script.ts';
import type { Program, World } from './world.ts';
import { ACCOUNT, createWorld } from './world.ts';

const STARTS_AT_MS = Date.UTC(2026, 2, 2, 8);
const QUIET_MS = 15 * 60_000;

/** What happened in scripts, for the figures of a campaign: `run converged`, `fault html`, `delete` … */
export type Tally = Map<string, number>;

export class Violation extends Error {
  override readonly name = 'Violation';
}

interface Game {
  readonly script: Script;
  readonly world: World;
  readonly time: VirtualTime;
  readonly traffic: Traffic;
  /** What the clock waits for. */
  readonly watched: Watched;
  readonly ledger: Ledger;
  readonly named: Set<string>;
  readonly adopted: Set<string>;
  readonly problems: string[];
  readonly tally: Tally;
  wish: Wish | null;
  approval: Watch['approval'];
  good: GoodLists | null;
  runs: number;
  /** The current run, and what happens during it. */
  current: {
    readonly watch: Watch;
    readonly step: RunStep;
    arrivals: number;
    wasEdited: boolean;
    ended: boolean;
  } | null;
  hooks: ((arrival: number) => void)[];
}

/** Plays a script. Throws a Violation with the step and everything that is wrong after it. */
export async function play(script: Script, tally: Tally = new Map()): Promise<void> {
  const time = new VirtualTime(STARTS_AT_MS);
  const world = await createWorld(script);
  let game: Game | null = null;
  const ledger = new Ledger(world.sandbox);
  const traffic = new Traffic(
    () => time.turns,
    (call) => {
      if (game?.current === null || game === null) return;
      const { current } = game;
      current.arrivals += 1;
      for (const hook of game.hooks) hook(current.arrivals);
      if (call.method !== 'GET') ledger.notice(game.runs);
      game.problems.push(...judgeArrival(call, current.watch, contextOf(game)));
    },
  );
  const watched: Watched = {
    get activity() {
      return traffic.activity + world.storeActivity();
    },
    isQuiet: () => traffic.isQuiet(),
    rest: () => world.rest(),
  };
  game = {
    script, world, time, traffic, watched, ledger, tally,
    named: new Set(), adopted: new Set(), problems: [], wish: null, approval: null, good: null, runs: 0, current: null, hooks: [],
  }; // prettier-ignore
  try {
    for (const [at, step] of script.steps.entries()) {
      await perform(game, step);
      throwProblems(game, `after step ${at} (${JSON.stringify(step)})`);
    }
    await converge(game);
    count(tally, 'stories');
  } finally {
    count(tally, 'clock forced', time.forced);
    traffic.close();
    await world.close();
    time.close();
  }
}

function throwProblems(game: Game, when: string): void {
  if (game.problems.length === 0) return;
  throw new Violation(`${when}:\n${game.problems.map((problem) => `- ${problem}`).join('\n')}`);
}

function contextOf({ traffic, ledger, world, adopted }: Game): OracleContext {
  return { calls: traffic.calls, ledger, isSent: world.isSent.bind(world), adopted };
}

async function perform(game: Game, step: Step): Promise<void> {
  const { world, tally } = game;
  switch (step.step) {
    case 'configure':
      game.wish = step.wish;
      return;
    case 'edit':
      count(tally, `edit ${step.edit.edit}`);
      editNow(game, step.edit);
      return;
    case 'wait':
      game.time.pass(step.ms);
      return;
    case 'approve': {
      const outcome = await game.time.drive(
        world.store.operator.operate(
          { action: 'approve', account: ACCOUNT },
          { name: 'sam', via: 'cli' },
          Date.now(),
        ),
        game.watched,
      );
      if (outcome.type === 'approved') game.approval = { digest: outcome.digest, givenAtMs: Date.now() };
      count(tally, `approve ${outcome.type}`);
      return;
    }
    case 'run':
      if (game.wish !== null) await runOnce(game, step, game.wish);
      return;
    default:
      step satisfies never;
  }
}

function editNow(game: Game, edit: Parameters<World['edit']>[0]): void {
  game.ledger.notice(game.runs);
  game.world.edit(edit);
  // Within a run, only its last lists are stored.
  game.ledger.knowAll(
    ({ kind, id, run }) =>
      (game.current === null || run !== game.runs) &&
      receivedEntries(game.traffic.calls, kind).some(({ entries }) => entries.has(id)),
  );
}

/** One run with its faults and edits, checked when it has ended. */
async function runOnce(game: Game, step: RunStep, wish: Wish): Promise<RunResult> {
  const { world, time, traffic, watched, ledger } = game;
  game.runs += 1;
  const stop = new AbortController();
  const watch: Watch = {
    number: game.runs, mode: step.mode, wish, firstCall: traffic.calls.length,
    approval: game.approval, acceptNoEvidence: step.acceptNoEvidence ?? true, good: game.good, runId: null, plan: null, stoppedAtMs: null,
  }; // prettier-ignore
  const current = { watch, step, arrivals: 0, wasEdited: false, ended: false };
  game.current = current;
  world.sandbox.setFaults(step.troubles.map((trouble) => faultOf(trouble, game.script.pinned)));
  const program = await world.start();
  const rivals: Promise<void>[] = [];
  game.hooks = hooksOf(game, step, watch, stop, (rival) => rivals.push(rival));
  try {
    const outcome = await time.drive(
      program.run(wish, {
        mode: step.mode,
        acceptShrink: step.acceptShrink,
        acceptNoEvidence: watch.acceptNoEvidence,
        stop: stop.signal,
        onPlan(plan, runId) {
          watch.plan = plan;
          watch.runId = runId;
        },
      }),
      watched,
    );
    // Requests that arrive after the end of the run trigger no edits.
    game.hooks = [];
    current.ended = true;
    await time.drive(Promise.all(rivals), watched);
    if ('heldBy' in outcome)
      throw new Violation(`nobody else runs, and the lock is held by ${outcome.heldBy}`);
    await time.drive(program.close(), watched);
    settleEffects(game);
    ledger.notice(game.runs);
    judgeEnded(game, step, watch, outcome, current.wasEdited);
    return outcome;
  } finally {
    game.current = null;
    game.hooks = [];
    world.sandbox.setFaults([]);
  }
}

/** Lets late effects of the service happen before anything reads it again. */
function settleEffects({ time, current }: Game): void {
  if (current?.step.troubles.some((trouble) => trouble.do.type === 'delay-effect') === true)
    time.advance(40_000);
}

function hooksOf(
  game: Game,
  step: RunStep,
  watch: Watch,
  stop: AbortController,
  begin: (rival: Promise<void>) => void,
): Game['hooks'] {
  return [
    (arrival) => {
      for (const { at, edit } of step.meanwhile) {
        if (at !== arrival) continue;
        count(game.tally, `edit during a run ${edit.edit}`);
        editNow(game, edit);
        if (game.current !== null) game.current.wasEdited = true;
      }
    },
    (arrival) => {
      if (arrival !== step.stopAt) return;
      watch.stoppedAtMs = Date.now();
      stop.abort();
      count(game.tally, 'stop during a run');
    },
    (arrival) => {
      if (arrival !== step.rivalAt || step.mode === 'plan') return;
      begin(rival(game, game.world.start(), watch.wish));
    },
  ];
}

/** A second process during the first one: it must not run until the first one has ended. */
async function rival(game: Game, starting: Promise<Program>, wish: Wish): Promise<void> {
  const program = await starting;
  const { signal } = new AbortController();
  await program.run(wish, {
    mode: 'apply',
    acceptShrink: false,
    acceptNoEvidence: false,
    stop: signal,
    onPlan() {
      if (game.current?.ended !== true) game.problems.push('a second process ran at the same time');
    },
  });
  count(game.tally, 'rival');
  await program.close();
}

function faultOf(trouble: Trouble, pinned: boolean): Fault {
  // Without a pin the first received id is accepted, which is not a violation but would end the story.
  const action = trouble.do.type === 'wrong-account-id' && !pinned ? ({ type: 'html' } as const) : trouble.do;
  return {
    match: { method: trouble.method, ...(trouble.of === undefined ? {} : { path: trouble.of }) },
    skip: trouble.skip,
    times: trouble.times,
    do: action,
  };
}

function judgeEnded(game: Game, step: RunStep, watch: Watch, result: RunResult, wasEdited: boolean): void {
  const { world, traffic, tally } = game;
  const rows = world.rows(result.runId);
  const calls = traffic.calls.slice(watch.firstCall);
  const acted = world.sandbox.faults().acted;
  const hadWrongLists = step.troubles.some((trouble, at) => trouble.method === 'GET' && (acted[at] ?? 0) > 0);
  const delayed = (game.script.service.listDelayMs ?? 0) > 0;
  const late = step.troubles.some(({ do: { type } }, at) => type === 'delay-effect' && (acted[at] ?? 0) > 0);
  const wasUndisturbed = !hadWrongLists && !wasEdited && !delayed && !late;
  game.problems.push(...judgeRun({ watch, result, rows, calls, wasUndisturbed }, contextOf(game)));
  judgeApproval(game, watch, calls);
  remember(game, watch, result, wasUndisturbed, calls);
  tallyRun(
    tally,
    step,
    result,
    acted,
    rows.map(({ action, status }) => `${action} ${status}`),
  );
  const exit = runExit(result.status, result.failure?.code ?? null, false);
  const good = result.status === 'converged' || result.status === 'planned';
  if ((exit === 0) !== good) game.problems.push(`${result.status} exits ${exit}`);
}

/** An approval is valid once and only for its plan: after a write or another plan it is used up or has lapsed. */
function judgeApproval(game: Game, { mode, plan }: Watch, calls: readonly { method: string }[]): void {
  if (mode !== 'approve' || plan === null) return;
  const wrote = calls.some(({ method }) => method !== 'GET');
  if (wrote || plan.digest !== game.approval?.digest) game.approval = null;
}

/** Stores what later runs are checked with: names in the file, and lists that were certainly correct. */
function remember(
  game: Game,
  watch: Watch,
  result: RunResult,
  wasUndisturbed: boolean,
  calls: readonly Parameters<typeof receivedPeople>[0][number][],
): void {
  const applied = watch.mode !== 'plan' && watch.plan !== null && result.status !== 'blocked';
  if (applied) {
    for (const kind of KINDS) {
      for (const { name, formerly = [] } of wishedOf(watch.wish, kind) ?? []) {
        for (const each of [name, ...formerly]) game.named.add(`${kind}:${exactly(each)}`);
      }
      const listed = receivedEntries(calls, kind).flatMap(({ entries }) => [...entries]);
      for (const [id, name] of listed) {
        if (game.named.has(`${kind}:${exactly(name)}`)) game.adopted.add(`${kind}:${id}`);
      }
    }
  }
  const clean = wasUndisturbed && watch.mode === 'apply' && ['converged', 'held'].includes(result.status);
  const people = receivedPeople(calls).at(-1);
  const ids = (kind: 'skill' | 'role') => new Set(receivedEntries(calls, kind).at(-1)?.entries.keys());
  game.good =
    clean && people !== undefined
      ? { atMs: Date.now(), people: people.people, entries: { skill: ids('skill'), role: ids('role') } }
      : null;
}

/** After the faults end, at most two runs are needed to converge, and the next run writes nothing. */
async function converge(game: Game): Promise<void> {
  const { wish, traffic, script } = game;
  if (wish === null) return;
  game.world.sandbox.setSettings({ listDelayMs: 0 });
  game.time.pass(QUIET_MS);
  const first = await runOnce(game, PLAIN_RUN, wish);
  throwProblems(game, 'in the first run after the faults');
  const second = await runOnce(game, { ...PLAIN_RUN, acceptShrink: first.status === 'blocked' }, wish);
  throwProblems(game, 'in the second run after the faults');
  const writes = (from: number) =>
    traffic.calls
      .slice(from)
      .filter(({ method }) => method !== 'GET')
      .map(describeCall);
  const from = traffic.calls.length;
  const third = await runOnce(game, PLAIN_RUN, wish);
  throwProblems(game, 'in the third run after the faults');
  const refused = game.world
    .rows(third.runId)
    .filter((row) => row.status === 'failed')
    .every((row) => row.http_status === 409);
  // A create that the service always refuses needs a person to fix it.
  if (third.status === 'partial' && script.service.uniqueNames !== undefined && refused) return;
  // So does an account whose lists contain no account id: after a response with another id nothing may be written to
  // it, and without any id nothing may be deleted.
  const isForeign = traffic.calls.some((call) => call.method === 'POST' && hasForeignId(call));
  const isUnknown = third.plan?.warnings.some(({ code }) => code === 'identity_unknown') === true;
  const isStopped =
    (isForeign && third.failure?.code === 'identity_mismatch') || (isUnknown && third.status === 'partial');
  if (script.service.omitOptionalFields === true && isStopped) {
    if (writes(from).length > 0) game.problems.push(`the third run wrote: ${writes(from).join(', ')}`);
    return throwProblems(game, 'when nothing shows which account it is');
  }
  const isDone = (result: RunResult) => result.status === 'converged' || result.status === 'held';
  if (!isDone(second)) game.problems.push(`the second run is ${second.status}: ${why(second)}`);
  if (writes(from).length > 0) game.problems.push(`the third run wrote: ${writes(from).join(', ')}`);
  if (third.status !== second.status)
    game.problems.push(`${second.status}, then ${third.status}: ${why(third)}`);
  throwProblems(game, 'after the faults had ended');
}

function why(result: RunResult): string {
  return `${result.failure?.code ?? ''} ${result.failure?.message ?? ''} ${(result.plan?.warnings ?? []).map(({ message }) => message).join('; ')}`;
}

function describeCall({ method, kind, name, remoteId }: Traffic['calls'][number]): string {
  return `${method} ${kind} ${name ?? remoteId ?? ''}`;
}

function count(tally: Tally, what: string, by = 1): void {
  tally.set(what, (tally.get(what) ?? 0) + by);
}

function tallyRun(
  tally: Tally,
  step: RunStep,
  result: RunResult,
  acted: readonly number[],
  operations: readonly string[],
): void {
  count(tally, `run ${step.mode} ${result.status}`);
  for (const operation of operations) count(tally, `operation ${operation}`);
  for (const [at, trouble] of step.troubles.entries())
    count(tally, `fault ${trouble.do.type}`, acted[at] ?? 0);
}
