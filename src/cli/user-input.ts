// What a user sends to a running command: answers to its questions, and SIGINT, SIGTERM and SIGHUP, of which the first stops
// new operations and the second aborts requests in flight.
import { setMaxListeners } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { visibleLines } from '../report/escape-invisible.ts';
import { STOP_MS } from '../core/limits.ts';
import type { RunSignals } from '../core/ports/clock.ts';
import { showMessage } from './console.ts';

/** Listens until `release` is called. A second signal, or the end of `graceMs`, aborts requests in flight. */
export function listenForSignals(): RunSignals & { release(): void } {
  const stop = new AbortController();
  const kill = new AbortController();
  // Each waiting request listens, and their number is not limited. A listener is removed when its wait ends.
  setMaxListeners(0, stop.signal, kill.signal);
  let timer: NodeJS.Timeout | undefined;
  function onSignal(): void {
    if (stop.signal.aborted) return kill.abort();
    stop.abort();
    showMessage('Stopping: requests in flight are completed, no new one starts. Ctrl-C again aborts them.');
    timer = setTimeout(() => kill.abort(), STOP_MS);
  }
  // A closed terminal sends SIGHUP, sometimes more than once; only a person or a service manager aborts requests.
  function onHangUp(): void {
    if (!stop.signal.aborted) onSignal();
  }
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  process.on('SIGHUP', onHangUp);
  return {
    stop: stop.signal,
    kill: kill.signal,
    release() {
      clearTimeout(timer);
      process.off('SIGINT', onSignal);
      process.off('SIGTERM', onSignal);
      process.off('SIGHUP', onHangUp);
    },
  };
}

/** Whether there is a terminal to ask on. */
export function canAsk(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

/** The line that was typed; `ended` at the end of the input (Ctrl-D), `interrupted` after Ctrl-C or when `signal` aborts. */
export async function ask(
  question: string,
  signal?: AbortSignal,
): Promise<{ readonly line: string } | 'ended' | 'interrupted'> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const stopped = new Promise<'ended' | 'interrupted'>((resolve) => {
      terminal.once('SIGINT', () => resolve('interrupted'));
      terminal.once('close', () => resolve('ended'));
    });
    const answered = terminal
      .question(visibleLines(question), signal === undefined ? {} : { signal })
      .then((line) => ({ line }))
      .catch(() => (signal?.aborted === true ? ('interrupted' as const) : ('ended' as const)));
    const answer = await Promise.race([answered, stopped]);
    if (typeof answer === 'string') process.stderr.write('\n');
    return answer;
  } finally {
    terminal.close();
  }
}

/** Asks on the terminal; the question may have several lines. Only `yes` agrees. */
export async function confirm(question: string, signal: AbortSignal): Promise<'yes' | 'no' | 'interrupted'> {
  const answer = await ask(`${question}\nOnly “yes” is accepted: `, signal);
  if (answer === 'interrupted') return answer;
  return answer !== 'ended' && answer.line.trim() === 'yes' ? 'yes' : 'no';
}
