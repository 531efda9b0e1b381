// The signals of the process: SIGTERM and SIGINT stop the daemon, a second one also aborts its requests, SIGHUP reloads.
import { setMaxListeners } from 'node:events';
import { STOP_MS } from '../core/limits.ts';
import type { Log } from './log.ts';

/** How much longer than the grace a stop may take, to journal the results. */
const JOURNAL_MS = 5000;

export type ProcessSignals = ReturnType<typeof listenForSignals>;

export function listenForSignals() {
  const stop = new AbortController();
  const kill = new AbortController();
  // Each waiting request has a listener, and removes it when it ends. There can be more than Node.js considers normal.
  setMaxListeners(0, stop.signal, kill.signal);
  const received = new Promise<string>((resolve) => {
    for (const name of ['SIGTERM', 'SIGINT'] as const) {
      process.on(name, () => {
        if (stop.signal.aborted) kill.abort();
        stop.abort();
        resolve(name);
      });
    }
  });
  // Without a listener SIGHUP would end the process, also while it starts.
  process.on('SIGHUP', () => undefined);
  return {
    stop: stop.signal,
    kill: kill.signal,
    /** The name of the first signal that stops the process. */
    received,
    /** Calls the listener on SIGHUP. */
    onHangup(listener: () => Promise<void>): void {
      process.on('SIGHUP', () => {
        if (!stop.signal.aborted) void listener();
      });
    },
    stopNow: () => stop.abort(),
    /** Aborts the requests in flight after the grace, and ends the process if it still runs some seconds later. */
    limitStop(log: Log): void {
      setTimeout(() => kill.abort(), STOP_MS).unref();
      setTimeout(() => forceExit(log), STOP_MS + JOURNAL_MS).unref();
    },
  };
}

/** Something prevents the last steps, such as a store that another program locks. The next run settles what is open. */
function forceExit(log: Log): void {
  log.error({ event: 'stop_forced' }, 'the daemon exits although not everything could be journaled');
  process.exit(0);
}
