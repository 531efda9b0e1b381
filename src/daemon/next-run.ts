// Computes when an account runs next, from its cron line and its failures in a row.
import type { Trigger } from '../core/journal.ts';
import { gapsMs, nextTickMs } from './cron.ts';

const MAX_BACKOFF_MS = 3_600_000;

/** A tick that starts later than this is a catch-up: the process or the machine was suspended, or no process was free. */
const LATE_MS = 60_000;

export interface Backoff {
  readonly failures: number;
  /** The shortest time between two of the next ticks. */
  readonly everyMs: number;
  /** The latest tick that started a run. */
  readonly lastTickMs: number;
}

/** Each failure in a row doubles the interval of the account, up to an hour. A longer interval does not change. */
export function backoffEndMs({ failures, everyMs, lastTickMs }: Backoff): number {
  if (failures < 2 || everyMs >= MAX_BACKOFF_MS) return -Infinity;
  return lastTickMs + Math.min(everyMs * 2 ** Math.min(failures - 1, 30), MAX_BACKOFF_MS);
}

/** The first tick from `dueMs` on that is not skipped. The tolerance keeps a daily tick on the day that has only 23 hours. */
export function firstTickMs(
  line: { readonly schedule: string; readonly timezone: string },
  dueMs: number | null,
  backoff: Backoff,
): number | null {
  const soonestMs = backoffEndMs(backoff) - backoff.everyMs / 10;
  return dueMs === null || dueMs >= soonestMs
    ? dueMs
    : nextTickMs(line.schedule, line.timezone, soonestMs - 1);
}

/** When the run of a tick starts: at most `jitterMs` later, and never more than a tenth of the interval. */
export function jitteredMs(tickMs: number, jitterMs: number, everyMs: number, random: number): number {
  return tickMs + random * Math.min(jitterMs, everyMs / 10);
}

/** The trigger of a run for a tick that starts now. */
export function triggerOf(tickMs: number, nowMs: number): Trigger {
  return nowMs - tickMs > LATE_MS ? 'catch_up' : 'schedule';
}

export interface NextRun {
  readonly atMs: number;
  /** The run starts at most this much later. */
  readonly jitterMs: number;
  /** Whether earlier ticks are skipped, because the latest runs failed. */
  readonly isBackingOff: boolean;
}

/**
 * When a daemon starts the next run of an account, as far as the journal shows it: `lastStartedMs` is the start of the
 * latest run. null when the cron line never ticks again.
 */
export function nextRun(
  line: { readonly schedule: string; readonly timezone: string; readonly jitterMs: number },
  journal: { readonly failures: number; readonly lastStartedMs: number },
  nowMs: number,
): NextRun | null {
  const { schedule, timezone } = line;
  const dueMs = nextTickMs(schedule, timezone, nowMs);
  const everyMs = Math.min(...gapsMs(schedule, timezone, nowMs));
  if (dueMs === null) return null;
  if (everyMs === Infinity) return { atMs: dueMs, jitterMs: line.jitterMs, isBackingOff: false };
  const lastTickMs = nextTickMs(schedule, timezone, journal.lastStartedMs - everyMs) ?? journal.lastStartedMs;
  const atMs = firstTickMs(line, dueMs, { failures: journal.failures, everyMs, lastTickMs });
  if (atMs === null) return null;
  return { atMs, jitterMs: Math.min(line.jitterMs, everyMs / 10), isBackingOff: atMs > dueMs };
}
