// SIGINT, SIGTERM and SIGHUP while a command runs: the first stops new operations, the second aborts requests in flight.
import { setMaxListeners } from 'node:events';
import type { RunSignals } from '../core/ports/clock.ts';
import { showMessage } from './console.ts';

/** Listens until `release` is called. A second signal, or the end of `graceMs`, aborts requests in flight. */
export function listenForSignals(graceMs: number): RunSignals & { release(): void } {
  const stop = new AbortController();
  const kill = new AbortController();
  // Each waiting request listens, and their number is not limited. A listener is removed when its wait ends.
  setMaxListeners(0, stop.signal, kill.signal);
  let timer: NodeJS.Timeout | undefined;
  function onSignal(): void {
    if (stop.signal.aborted) return kill.abort();
    stop.abort();
    showMessage('Stopping: requests in flight are completed, no new one starts. Ctrl-C again aborts them.');
    timer = setTimeout(() => kill.abort(), graceMs);
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
