// Shows on stderr what a command does while it takes longer: one line that is rewritten on a terminal, a line now and
// then elsewhere. Works on several accounts at a time.
import { KINDS } from '../core/catalog.ts';
import type { Activity } from '../core/ports/progress.ts';
import type { ConfiguredAccount, ServiceSettings } from '../core/settings.ts';
import { visible } from '../report/escape-invisible.ts';
import { count, waitText } from '../report/formatting.ts';
import { showLive, showMessage } from './console.ts';

const TICK_MS = 100;
/** What takes less time shows nothing. */
const FIRST_DRAW_MS = 500;
const FIRST_LINE_MS = 2000;
const NEXT_LINE_MS = 10_000;
/** A rate over less time than this is not meaningful. */
const SHORTEST_RATE_MS = 500;

const ERASE_LINE = '\r\u001B[K';
/** The terminal cuts a line that is longer than it is wide: a wrapped one could not be erased. */
const NO_WRAP = '\u001B[?7l';
const WRAP = '\u001B[?7h';

/** A step of a command that is no run. `forMs`: the longest time that it takes. */
export interface Step {
  readonly type: 'step';
  readonly text: string;
  readonly done?: number;
  readonly total?: number;
  readonly forMs?: number;
}

/** Receives what an account does, or a step of a command. */
export type Observe = (activity: Activity | Step) => void;

/** Shows an account while `run` works on it; `run` reports what it does. */
export type Track = <T>(account: string, run: (observe: Observe) => Promise<T>) => Promise<T>;

/** What is done with all accounts, such as `planned`. */
interface Work {
  readonly verb: string;
  readonly accounts: number;
}

/** An account that a command works on. */
export interface RunningAccount {
  activity: Activity | Step;
  /** When the activity began, and how many operations were done then. */
  sinceMs: number;
  doneBefore: number;
}

/** The work of a command at a moment. */
export interface WorkState extends Work {
  readonly startedAtMs: number;
  /** The accounts that are complete. */
  readonly done: number;
  /** By name; the one that runs the longest is the first. */
  readonly running: ReadonlyMap<string, RunningAccount>;
}

/** Shows the work while `run` runs. Before and after it nothing is shown. */
export async function showProgress<T>(work: Work, run: (track: Track) => Promise<T>): Promise<T> {
  const running = new Map<string, RunningAccount>();
  const startedAtMs = performance.now();
  let done = 0;
  const line = (): string | null => progressLine({ ...work, running, done, startedAtMs }, performance.now());
  const display = startDisplay(line);
  async function track<R>(name: string, runOne: (observe: Observe) => Promise<R>): Promise<R> {
    const account: RunningAccount = {
      activity: { type: 'step', text: 'starting' },
      sinceMs: performance.now(),
      doneBefore: 0,
    };
    running.set(name, account);
    try {
      return await runOne((next) => {
        note(account, next);
        // Whoever waits for a lock must know at once who holds it.
        if (next.type === 'lock') display.showNow();
      });
    } finally {
      running.delete(name);
      done += 1;
    }
  }
  try {
    return await run(track);
  } finally {
    display.end();
  }
}

/** As many names of account files as a command works on at a time: the lists of so many names are in memory. */
const MOST_NAMES = 20_000;

/** As in a daemon. */
const MOST_RUNS = 8;

/**
 * Calls `work` for each account, with the progress shown. Enough accounts run at a time to use `hostConcurrency`, and of large
 * ones no more than a daemon runs. Results are in the order of the accounts. After a failure no further call starts; the
 * running ones are awaited, then the first failure is thrown.
 */
export async function mapAccounts<R>(
  verb: string,
  accounts: readonly ConfiguredAccount[],
  { api }: ServiceSettings,
  work: (account: ConfiguredAccount, observe: Observe) => Promise<R>,
): Promise<R[]> {
  const sizes = accounts.map(({ settings }) => KINDS.flatMap((kind) => settings?.desired[kind] ?? []).length);
  const fitting = Math.floor(MOST_NAMES / Math.max(1, ...sizes));
  const limit = Math.max(MOST_RUNS, Math.min(api.hostConcurrency, fitting));
  const results: R[] = [];
  const failures: unknown[] = [];
  const queue = accounts.entries();
  await showProgress({ verb, accounts: accounts.length }, async (track) => {
    async function worker(): Promise<void> {
      for (const [index, account] of queue) {
        if (failures.length > 0) return;
        try {
          results[index] = await track(account.name, (observe) => work(account, observe));
        } catch (error) {
          failures.push(error);
        }
      }
    }
    await Promise.all(Array.from({ length: limit }, worker));
  });
  if (failures.length > 0) throw failures[0];
  return results;
}

function note(account: RunningAccount, next: Activity | Step): void {
  const { activity } = account;
  account.activity = next;
  // The rate is that of the creates, or of the deletes.
  if (next.type === 'apply' && activity.type === 'apply' && next.action === activity.action) return;
  account.sinceMs = performance.now();
  account.doneBefore = next.type === 'apply' ? next.done : 0;
}

/** Shows one step that belongs to no account, such as a copy of the store. */
export async function showStep<T>(
  name: string,
  step: Omit<Step, 'type'>,
  run: (observe: Observe) => Promise<T>,
): Promise<T> {
  return await showProgress({ verb: 'done', accounts: 1 }, (track) =>
    track(name, async (observe) => {
      observe({ type: 'step', ...step });
      return await run(observe);
    }),
  );
}

function startDisplay(line: () => string | null) {
  const isTerminal = Boolean(process.stderr.isTTY) && process.env['TERM'] !== 'dumb';
  let shown: string | null = null;
  let dueAtMs = performance.now() + (isTerminal ? FIRST_DRAW_MS : FIRST_LINE_MS);
  function erase(): void {
    if (isTerminal && shown !== null) process.stderr.write(ERASE_LINE);
    shown = null;
  }
  function show(): void {
    const text = line();
    if (isTerminal) {
      if (text === shown) return;
      erase();
      if (text !== null) process.stderr.write(NO_WRAP + visible(text) + WRAP);
      shown = text;
    } else if (text !== null) {
      showMessage(text);
      shown = text;
      dueAtMs = performance.now() + NEXT_LINE_MS;
    }
  }
  const timer = setInterval(() => {
    if (performance.now() >= dueAtMs) show();
  }, TICK_MS);
  timer.unref();
  if (isTerminal) showLive(erase);
  return {
    /** Shows at once what runs, in a log that shows nothing yet. */
    showNow(): void {
      if (!isTerminal && shown === null) show();
    },
    end(): void {
      clearInterval(timer);
      erase();
      if (isTerminal) showLive(null);
    },
  };
}

/** The work in one line, of the accounts what the one does that runs the longest; null while nothing runs. */
export function progressLine(state: WorkState, nowMs: number): string | null {
  const { verb, accounts, done, startedAtMs, running } = state;
  const [first] = running;
  if (first === undefined) return null;
  const text = textOf(first[1].activity);
  const others = [...running.values()].filter(({ activity }) => textOf(activity) === text).length - 1;
  const account = `${first[0]}${others === 0 ? '' : ` and ${others} more`}: ${activityText(first[1], nowMs)}`;
  if (accounts === 1) return account;
  const pace = paceText(done, accounts - done, nowMs - startedAtMs);
  return `${[`${verb} ${done} of ${count(accounts, 'account')}`, ...pace].join(', ')}; ${account}`;
}

/** What the account does, and the longest time that it still waits. */
function activityText({ activity, sinceMs, doneBefore }: RunningAccount, nowMs: number): string {
  const passedMs = nowMs - sinceMs;
  const text = textOf(activity);
  if (activity.type === 'apply') {
    const { done, total } = activity;
    return [text, ...paceText(done - doneBefore, total - done, passedMs)].join(', ');
  }
  const forMs = 'forMs' in activity ? activity.forMs : undefined;
  return forMs === undefined ? text : `${text} (up to ${waitText(Math.max(0, forMs - passedMs))})`;
}

function textOf(activity: Activity | Step): string {
  switch (activity.type) {
    case 'lock':
      return `waiting for the lock, which is held by ${activity.heldBy}`;
    case 'lists':
      return `reading the lists of the service, ${activity.read} of 3`;
    case 'plan':
      return 'planning';
    case 'recheck':
      return 'the lists lack entries or assignments that the last ones had; reading them again';
    case 'earlier':
      return 'waiting until the lists show what an earlier run sent';
    case 'apply':
      return `${activity.done} of ${count(activity.total, 'operation')}, ${percent(activity.done, activity.total)}`;
    case 'verify':
      return 'waiting until the lists show the changes';
    case 'step': {
      const { text, done, total } = activity;
      return done === undefined || !total ? text : `${text}, ${percent(done, total)}`;
    }
    default:
      return activity satisfies never;
  }
}

/** The rate and the time left, if they are known. */
function paceText(done: number, remaining: number, passedMs: number): string[] {
  if (done <= 0 || passedMs < SHORTEST_RATE_MS) return [];
  const perMs = done / passedMs;
  const rate = `${(perMs * 1000).toFixed(1)}/s`;
  return [rate, ...(remaining > 0 ? [`${waitText(remaining / perMs)} left`] : [])];
}

/** Never 100 % before the end. */
function percent(done: number, total: number): string {
  return `${Math.floor((done * 100) / total)} %`;
}
