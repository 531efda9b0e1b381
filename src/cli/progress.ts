// Shows on stderr what a command does while it takes longer: one block on a terminal, a line now and then elsewhere.
import type { Activity, RequestObserver } from '../core/progress.ts';
import { visible } from '../report/escape-invisible.ts';
import { isQuiet, showLive, showMessage } from './console.ts';
import { createProgressModel, type ProgressModel, type Work } from './progress-model.ts';
import type { Step } from './progress-text.ts';

/** At most 10 drawings a second. */
const TICK_MS = 100;
/** What takes less time shows nothing. */
const FIRST_DRAW_MS = 500;
const FIRST_LINE_MS = 2000;
const NEXT_LINE_MS = 10_000;
/** The shortest time between two lines, when the phase changes. */
const NEXT_PHASE_MS = 1000;

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
  let model: ProgressModel | null = null;
  let sent = 0;
  let isStopping = false;

  async function track<T>(account: string, run: (observe: Observe) => Promise<T>): Promise<T> {
    model?.start(account, performance.now());
    try {
      return await run((activity) => {
        model?.note(account, activity, performance.now());
        if (activity.type === 'lock') display?.notice();
      });
    } finally {
      model?.end(account, performance.now());
    }
  }

  let display: Display | null = null;
  return {
    async during(work, run) {
      model = createProgressModel(work, () => (isStopping ? sent : null));
      display = isQuiet() ? null : await startDisplay(model);
      try {
        return await run(track);
      } finally {
        display?.end();
        display = null;
        model = null;
      }
    },
    observer: (account) => ({
      started() {
        sent += 1;
      },
      request() {
        sent -= 1;
      },
      retry: () => model?.retried(account),
      paused: (forMs) => model?.paused(account, forMs, performance.now()),
    }),
    inFlight: () => sent,
    stop() {
      isStopping = true;
    },
  };
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
  notice(): void;
  end(): void;
}

async function startDisplay(model: ProgressModel): Promise<Display> {
  const isTerminal = Boolean(process.stderr.isTTY) && process.env['TERM'] !== 'dumb';
  return isTerminal ? await startBlock(model) : startLines(model);
}

async function startBlock(model: ProgressModel): Promise<Display> {
  // Measuring the width of text takes a tenth of the time of a short command to load.
  const { createLiveBlock } = await import('./live-block.ts');
  const block = createLiveBlock(process.stderr);
  const startedAtMs = performance.now();
  const timer = setInterval(() => {
    const nowMs = performance.now();
    if (nowMs - startedAtMs >= FIRST_DRAW_MS) block.draw(model.block(nowMs).map(visible));
  }, TICK_MS);
  timer.unref();
  showLive(() => block.clear());
  return {
    notice: () => undefined,
    end() {
      clearInterval(timer);
      showLive(null);
      block.clear();
    },
  };
}

function startLines(model: ProgressModel): Display {
  let dueAtMs = performance.now() + FIRST_LINE_MS;
  let phaseAtMs = dueAtMs;
  let phase = '';
  function show(nowMs: number): void {
    const line = model.line(nowMs);
    if (line === null) return;
    showMessage(line);
    dueAtMs = nowMs + NEXT_LINE_MS;
    phaseAtMs = nowMs + NEXT_PHASE_MS;
    phase = model.phase();
  }
  const timer = setInterval(() => {
    const nowMs = performance.now();
    const isChanged = nowMs >= phaseAtMs && model.phase() !== phase;
    if (nowMs >= dueAtMs || isChanged) show(nowMs);
  }, TICK_MS);
  timer.unref();
  return { notice: () => show(performance.now()), end: () => clearInterval(timer) };
}
