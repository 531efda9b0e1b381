// Shows on stderr what a command does while it takes longer: one line that is rewritten on a terminal, a line now and
// then elsewhere.
import type { Activity, RequestObserver } from '../core/ports/progress.ts';
import { visible } from '../report/escape-invisible.ts';
import { isQuiet, showLive, showMessage } from './console.ts';
import { progressLine, type RunningAccount, type Step, type Work, type WorkState } from './progress-text.ts';

const TICK_MS = 100;
/** What takes less time shows nothing. */
const FIRST_DRAW_MS = 500;
const FIRST_LINE_MS = 2000;
const NEXT_LINE_MS = 10_000;

const ERASE_LINE = '\r\u001B[K';
/** The terminal cuts a line that is longer than it is wide: a wrapped one could not be erased. */
const NO_WRAP = '\u001B[?7l';
const WRAP = '\u001B[?7h';

/** Receives what an account does, or a step of a command. */
export type Observe = (activity: Activity | Step) => void;

/** Shows an account while `run` works on it; `run` reports what it does. */
export type Track = <T>(account: string, run: (observe: Observe) => Promise<T>) => Promise<T>;

export interface Progress {
  /** Shows the work while `run` runs. Before and after it nothing is shown. */
  during<T>(work: Work, run: (track: Track) => Promise<T>): Promise<T>;
  /** Receives the requests of an account. */
  readonly observer: (account: string) => RequestObserver;
  /** The requests that wait for an answer. */
  readonly inFlight: () => number;
  /** From now on nothing new starts. */
  stop(): void;
}

/** The progress of one command. With `--quiet` nothing is shown. */
export function createProgress(): Progress {
  const running = new Map<string, RunningAccount>();
  let work: Omit<WorkState, 'running' | 'stopping'> | null = null;
  let display: Display | null = null;
  let sent = 0;
  let isStopping = false;

  function line(): string | null {
    const stopping = isStopping ? sent : null;
    return work === null ? null : progressLine({ ...work, running, stopping }, performance.now());
  }

  async function track<T>(name: string, run: (observe: Observe) => Promise<T>): Promise<T> {
    const activity: Step = { type: 'step', text: 'starting' };
    const account: RunningAccount = {
      activity,
      sinceMs: performance.now(),
      doneBefore: 0,
      pausedUntilMs: 0,
      retries: 0,
    };
    running.set(name, account);
    try {
      return await run((next) => {
        note(account, next);
        // Whoever waits for a lock must know at once who holds it.
        if (next.type === 'lock') display?.showNow();
      });
    } finally {
      running.delete(name);
      if (work !== null) work = { ...work, done: work.done + 1 };
    }
  }

  return {
    async during(begun, run) {
      work = { ...begun, done: 0, startedAtMs: performance.now() };
      display = isQuiet() ? null : startDisplay(line);
      try {
        return await run(track);
      } finally {
        display?.end();
        display = null;
        work = null;
      }
    },
    observer: (name) => ({
      started() {
        sent += 1;
      },
      request() {
        sent -= 1;
      },
      retry() {
        const account = running.get(name);
        if (account !== undefined) account.retries += 1;
      },
      paused(forMs) {
        const account = running.get(name);
        if (account === undefined) return;
        account.pausedUntilMs = Math.max(account.pausedUntilMs, performance.now() + forMs);
      },
    }),
    inFlight: () => sent,
    stop() {
      isStopping = true;
    },
  };
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
  return await createProgress().during({ verb: 'done', accounts: 1 }, (track) =>
    track(name, async (observe) => {
      observe({ type: 'step', ...step });
      return await run(observe);
    }),
  );
}

interface Display {
  /** Shows at once what runs, in a log. */
  showNow(): void;
  end(): void;
}

function startDisplay(line: () => string | null): Display {
  const isTerminal = Boolean(process.stderr.isTTY) && process.env['TERM'] !== 'dumb';
  let shown: string | null = null;
  let dueAtMs = performance.now() + (isTerminal ? FIRST_DRAW_MS : FIRST_LINE_MS);
  function erase(): void {
    if (shown !== null) process.stderr.write(ERASE_LINE);
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
      dueAtMs = performance.now() + NEXT_LINE_MS;
    }
  }
  const timer = setInterval(() => {
    if (performance.now() >= dueAtMs) show();
  }, TICK_MS);
  timer.unref();
  if (isTerminal) showLive(erase);
  return {
    showNow() {
      if (!isTerminal) show();
    },
    end() {
      clearInterval(timer);
      erase();
      if (isTerminal) showLive(null);
    },
  };
}
