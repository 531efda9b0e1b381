// When a cron line ticks: node-cron reads the line, the arithmetic from any moment on is here, so that it can be asked
// about the past, about a clock that jumped, and about the days on which a zone changes its offset.
import { parse } from 'node-cron';
import { DAY_MS } from '../core/durations-and-sizes.ts';
import { offsetMs, wallTimeMs } from './time-zone.ts';

/** A leap day that must be a certain weekday comes again after 40 years at the latest. */
const FARTHEST_DAYS = 366 * 41;

/** No spring day skips more. */
const LONGEST_SKIP_MS = 3 * 3_600_000;

interface CronLine {
  readonly seconds: readonly number[];
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  readonly matchesDay: (wallDayMs: number) => boolean;
  /** Whether the line asks for every so many hours, so that a repeated hour is one of its own. */
  readonly repeats: boolean;
}

const lines = new Map<string, CronLine>();
const MOST_LINES = 5000;

/**
 * The first tick after a moment (epoch milliseconds). A time that a spring day skips ticks as much later as the clock
 * went forward; a time that an autumn day has twice ticks once, except for lines whose hour is `*` or `*`/n, which tick
 * in both hours, as cron does. Of two restricted day fields either is enough, as in cron. null: never.
 */
export function nextTickMs(cron: string, timezone: string, afterMs: number): number | null {
  const line = readLine(cron);
  const inWallOrder = line.repeats
    ? nextRepeatedMs(line, timezone, afterMs)
    : nextOnceMs(line, timezone, wallTimeMs(afterMs, timezone), afterMs);
  const atSkips = [afterMs, inWallOrder ?? afterMs].flatMap((ms) => ticksAtSkip(line, timezone, afterMs, ms));
  const ticks = inWallOrder === null ? atSkips : [...atSkips, inWallOrder];
  return ticks.length === 0 ? null : Math.min(...ticks);
}

/** The next ticks from a moment on. */
export function nextTimes(cron: string, timezone: string, count: number, fromMs: number): Date[] {
  const times: Date[] = [];
  for (let ms = nextTickMs(cron, timezone, fromMs); ms !== null && times.length < count;) {
    times.push(new Date(ms));
    ms = nextTickMs(cron, timezone, ms);
  }
  return times;
}

/** The times between the next ticks after a moment, in milliseconds; as many as a week of working days has. */
export function gapsMs(cron: string, timezone: string, fromMs: number): number[] {
  const times = nextTimes(cron, timezone, 8, fromMs).map((time) => time.getTime());
  return times.slice(1).map((ms, index) => ms - (times[index] ?? ms));
}

/** Whether a line ticked after `afterMs` and not after `upToMs` (epoch milliseconds). */
export function cronTicked(cron: string, timezone: string, afterMs: number, upToMs: number): boolean {
  const next = nextTickMs(cron, timezone, afterMs);
  return next !== null && next <= upToMs;
}

function readLine(cron: string): CronLine {
  const known = lines.get(cron);
  if (known !== undefined) return known;
  const { second, minute, hour, dayOfMonth, month, dayOfWeek } = parse(cron);
  const days = new Set(dayOfMonth.map(Number));
  const weekdays = new Set(dayOfWeek.map((day) => Number(day) % 7));
  const months = new Set(month);
  const anyDay = days.size === 31;
  const anyWeekday = weekdays.size === 7;
  const line: CronLine = {
    seconds: second.toSorted(ascending),
    minutes: minute.toSorted(ascending),
    hours: hour.toSorted(ascending),
    matchesDay(wallDayMs) {
      const date = new Date(wallDayMs);
      if (!months.has(date.getUTCMonth() + 1)) return false;
      const byDay = days.has(date.getUTCDate());
      const byWeekday = weekdays.has(date.getUTCDay());
      return anyDay || anyWeekday ? byDay && byWeekday : byDay || byWeekday;
    },
    repeats: (cron.trim().split(/\s+/).at(-4) ?? '').startsWith('*'),
  };
  if (lines.size === MOST_LINES) lines.clear();
  lines.set(cron, line);
  return line;
}

function ascending(a: number, b: number): number {
  return a - b;
}

/** The first matching wall time after a wall time; wall times are written as if the zone were UTC. */
function nextWallMs(line: CronLine, afterWallMs: number): number | null {
  const today = Math.floor(afterWallMs / DAY_MS) * DAY_MS;
  for (let day = 0; day < FARTHEST_DAYS; day += 1) {
    const start = today + day * DAY_MS;
    if (!line.matchesDay(start)) continue;
    const inDay = firstInDay(line, afterWallMs - start);
    if (inDay !== null) return start + inDay;
  }
  return null;
}

/** The first matching time of a day after `afterMs` since its midnight. */
function firstInDay({ hours, minutes, seconds }: CronLine, afterMs: number): number | null {
  for (const hour of hours) {
    if ((hour + 1) * 3_600_000 <= afterMs) continue;
    for (const minute of minutes) {
      if (hour * 3_600_000 + (minute + 1) * 60_000 <= afterMs) continue;
      for (const second of seconds) {
        const ms = hour * 3_600_000 + minute * 60_000 + second * 1000;
        if (ms > afterMs) return ms;
      }
    }
  }
  return null;
}

/** The next tick of a line that ticks in both of two hours that the zone's clocks show alike. */
function nextRepeatedMs(line: CronLine, timezone: string, afterMs: number): number | null {
  const wallMs = nextWallMs(line, wallTimeMs(afterMs, timezone));
  const candidate = toInstants(wallMs, timezone).find((ms) => ms > afterMs) ?? null;
  const change = offsetChange(timezone, afterMs, candidate ?? afterMs + DAY_MS);
  if (change === null || change.after > change.before) return candidate;
  const wall = nextWallMs(line, change.atMs + change.after - 1000);
  const repeated = wall === null ? null : wall - change.after;
  if (repeated === null || repeated <= afterMs) return candidate;
  return candidate === null ? repeated : Math.min(candidate, repeated);
}

/**
 * What ticks after a moment, and while the times pass that the zone's clocks skipped shortly before `byMs`: a skipped
 * time ticks as much later, between times that its clocks do show, so that ticks are out of the order of wall times.
 */
function ticksAtSkip(line: CronLine, timezone: string, afterMs: number, byMs: number): number[] {
  const change = offsetChange(timezone, byMs - LONGEST_SKIP_MS, byMs);
  if (change === null) return [];
  const { atMs, before, after } = change;
  const fromMs = Math.max(afterMs, atMs - 1);
  return [before, after].flatMap((offset) => {
    const wallMs = nextWallMs(line, fromMs + offset);
    return wallMs !== null && wallMs - offset < atMs + after - before ? [wallMs - offset] : [];
  });
}

/** The next tick of a line that ticks once although the zone's clocks show its time twice: the first time counts. */
function nextOnceMs(line: CronLine, timezone: string, fromWallMs: number, afterMs: number): number | null {
  let wallMs = nextWallMs(line, fromWallMs);
  while (wallMs !== null) {
    const [first = 0] = toInstants(wallMs, timezone);
    if (first > afterMs) return first;
    wallMs = nextWallMs(line, wallMs);
  }
  return null;
}

/** The moments at which the zone's clocks show a wall time; of none, as much later as was skipped. */
function toInstants(wallMs: number | null, timezone: string): readonly number[] {
  if (wallMs === null) return [];
  const before = wallMs - offsetMs(wallMs - DAY_MS, timezone);
  const after = wallMs - offsetMs(wallMs + DAY_MS, timezone);
  const moments = [...new Set([before, after])].filter((ms) => wallTimeMs(ms, timezone) === wallMs);
  return moments.length === 0 ? [Math.max(before, after)] : moments.toSorted(ascending);
}

interface OffsetChange {
  /** The first moment with the new offset. */
  readonly atMs: number;
  readonly before: number;
  readonly after: number;
}

/** The change of a zone's offset within (fromMs, toMs]; null when both have the same. */
function offsetChange(timezone: string, fromMs: number, toMs: number): OffsetChange | null {
  const before = offsetMs(fromMs, timezone);
  const after = offsetMs(toMs, timezone);
  if (after === before) return null;
  let [low, high] = [fromMs, toMs];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetMs(middle, timezone) === before) low = middle;
    else high = middle;
  }
  return { atMs: high, before, after };
}
