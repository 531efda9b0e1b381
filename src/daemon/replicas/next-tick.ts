// Computes when an account is due next. The store has one row for each account, so the next tick is known at the end of a
// run, with the backoff after failures.
import type { CronLine, NextTick } from '../../core/turn-store.ts';
import { gapsMs, nextTickMs } from '../cron.ts';
import { backoffEndMs, firstTickMs, jitteredMs } from '../next-run.ts';

/** The database's clock may be set back by so much, for example to that of another server, without repeating a tick. */
const LARGEST_CORRECTION_MS = 600_000;

/** `random` is from 0 to 1, for the jitter. */
export function nextTick(
  line: CronLine,
  { failures, lastTickMs }: { readonly failures: number; readonly lastTickMs: number },
  nowMs: number,
  random: number,
): NextTick {
  const isCorrection = lastTickMs > nowMs && lastTickMs - nowMs <= LARGEST_CORRECTION_MS;
  const soonestMs = nextTickMs(line.schedule, line.timezone, isCorrection ? lastTickMs : nowMs);
  const everyMs = Math.min(...gapsMs(line.schedule, line.timezone, nowMs), Number.MAX_SAFE_INTEGER);
  const backoff = { failures, everyMs, lastTickMs };
  const tickMs = firstTickMs(line, soonestMs, backoff);
  const untilMs = backoffEndMs(backoff);
  return {
    tickMs,
    dueMs: tickMs === null ? null : jitteredMs(tickMs, line.jitterMs, everyMs, random),
    backoffUntilMs: untilMs > nowMs ? untilMs : null,
  };
}

/** The first tick of a line after a moment, and the shortest time between two of its ticks. */
export function firstTick({ schedule, timezone }: CronLine, nowMs: number) {
  const gaps = gapsMs(schedule, timezone, nowMs);
  return {
    tickMs: nextTickMs(schedule, timezone, nowMs),
    everyMs: Math.min(...gaps, Number.MAX_SAFE_INTEGER),
    longestGapMs: Math.max(0, ...gaps),
  };
}

/** How many ticks passed between two moments. */
export function ticksBetween({ schedule, timezone }: CronLine, fromMs: number, toMs: number): number {
  let count = 0;
  let tickMs = nextTickMs(schedule, timezone, fromMs);
  for (; tickMs !== null && tickMs <= toMs && count < MOST_TICKS; count += 1)
    tickMs = nextTickMs(schedule, timezone, tickMs);
  return count;
}

const MOST_TICKS = 1000;
