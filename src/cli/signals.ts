// SIGINT and SIGTERM while a command runs: first nothing new is started, then what is in flight is given up.
import { setMaxListeners } from 'node:events';
import type { RunSignals } from '../core/ports.ts';
import { showMessage } from './console.ts';

/** Listens until `release` is called. A second signal, or the end of the grace, gives up what is in flight. */
export function listenForSignals(graceMs: number): RunSignals & { release(): void } {
  const stop = new AbortController();
  const kill = new AbortController();
  // As many wait at once as the service keeps waiting; each lets go of the signal when its wait ends.
  setMaxListeners(0, stop.signal, kill.signal);
  let timer: NodeJS.Timeout | undefined;
  function onSignal(): void {
    if (stop.signal.aborted) return kill.abort();
    showMessage('Stopping: nothing new is started; what is in flight ends first. Once more gives it up.');
    stop.abort();
    timer = setTimeout(() => kill.abort(), graceMs);
  }
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  return {
    stop: stop.signal,
    kill: kill.signal,
    release() {
      clearTimeout(timer);
      process.off('SIGINT', onSignal);
      process.off('SIGTERM', onSignal);
    },
  };
}
