// Compares the clock of this machine with that of the store. Schedules follow the former, and locks and ages the latter.
import type { Clock } from '../core/ports/clock.ts';
import type { Log } from './log.ts';

export interface ClockWatch {
  /** The store reported its time; the question and the answer took so long. */
  read(storeMs: number, tookMs: number): void;
  /** Why the process is not ready; empty while the difference is small. */
  problems(): readonly string[];
}

export interface ClockWatchOptions {
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly log: Pick<Log, 'warn' | 'info'>;
  readonly onDifference: (aheadMs: number, storeMs: number) => void;
}

const NOTABLE_MS = 1000;
const MOST_MS = 10_000;

export function createClockWatch({ clock, log, onDifference }: ClockWatchOptions): ClockWatch {
  let aheadMs = 0;
  return {
    read(storeMs, tookMs) {
      const wasNotable = Math.abs(aheadMs) > NOTABLE_MS;
      // The store has read its clock at some moment in between.
      const uncertainMs = tookMs / 2;
      aheadMs = storeMs + uncertainMs - clock.nowMs();
      if (Math.abs(aheadMs) <= uncertainMs) aheadMs = 0;
      onDifference(aheadMs, clock.nowMs() + aheadMs);
      const isNotable = Math.abs(aheadMs) > NOTABLE_MS;
      if (isNotable === wasNotable) return;
      const data = { event: isNotable ? 'clock_differs' : 'clock_agrees', aheadMs: Math.round(aheadMs) };
      if (isNotable) log.warn(data, 'the clock of the database differs from that of this machine; set them');
      else log.info(data, 'the clock of the database and that of this machine agree again');
    },
    problems: () =>
      Math.abs(aheadMs) > MOST_MS
        ? [
            `the clock of the database differs by ${Math.round(Math.abs(aheadMs) / 1000)} s from that of this machine; set them`,
          ]
        : [],
  };
}
