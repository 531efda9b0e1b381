// Computes when a cron line ticks. node-cron parses the line; the arithmetic is here, because it must also work for the past,
// for a clock that was set, and on days when a time zone changes its offset.
import { parse } from 'node-cron';
import { DAY_MS } from '../core/durations-and-sizes.ts';
import { offsetMs, localTimeMs } from './time-zone.ts';

/** A leap day on a certain weekday comes again after 40 years at the latest. */
const MAX_DAYS = 366 * 41;

/** No change to daylight saving time skips more. */
const MAX_SKIP_MS = 3 * 3_600_000;

interface CronLine {
  readonly seconds: readonly number[];
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  readonly matchesDay: (localDayMs: number) => boolean;
  /** Whether the hour is `*` or `*`/n, so that the line also ticks in a repeated hour. */
  readonly repeats: boolean;
}

const lines = new Map<string, CronLine>();
const MAX_LINES = 5000;

/**
 * The first tick after a moment (epoch milliseconds); null when there is none. A time that the change to daylight saving
 * time skips ticks later, by as much as the clocks are moved. A time that occurs twice ticks once, except for lines whose
 * hour is `*` or `*`/n, which tick in both hours, as in cron. If both day fields are restricted, one match is enough.
 */
export function nextTickMs(cron: string, timezone: string, afterMs: number): number | null {
  const line = readLine(cron);
  const inLocalOrder = line.repeats
    ? nextRepeatedMs(line, timezone, afterMs)
    : nextOnceMs(line, timezone, localTimeMs(afterMs, timezone), afterMs);
  const atSkips = [afterMs, inLocalOrder ?? afterMs].flatMap((ms) =>
    ticksAtSkip(line, timezone, afterMs, ms),
  );
  const ticks = inLocalOrder === null ? atSkips : [...atSkips, inLocalOrder];
  return ticks.length === 0 ? null : Math.min(...ticks);
}

/** The latest tick in (afterMs, upToMs]; null when there is none. */
export function latestTickMs(cron: string, timezone: string, afterMs: number, upToMs: number): number | null {
  if (!cronTicked(cron, timezone, afterMs, upToMs)) return null;
  let [low, high] = [afterMs, upToMs];
  // Ticks are at least a second apart, so that one tick is left.
  while (high - low >= 1000) {
    const middle = Math.floor((low + high) / 2);
    if (cronTicked(cron, timezone, middle, upToMs)) low = middle;
    else high = middle;
  }
  return nextTickMs(cron, timezone, low);
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

/** The times between the next eight ticks after a moment, in milliseconds; a schedule of working days includes a weekend. */
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
    matchesDay(localDayMs) {
      const date = new Date(localDayMs);
      if (!months.has(date.getUTCMonth() + 1)) return false;
      const byDay = days.has(date.getUTCDate());
      const byWeekday = weekdays.has(date.getUTCDay());
      return anyDay || anyWeekday ? byDay && byWeekday : byDay || byWeekday;
    },
    repeats: (cron.trim().split(/\s+/).at(-4) ?? '').startsWith('*'),
  };
  if (lines.size === MAX_LINES) lines.clear();
  lines.set(cron, line);
  return line;
}

function ascending(a: number, b: number): number {
  return a - b;
}

/** The first matching local time after a local time. Local times are written as if the zone were UTC. */
function nextLocalMs(line: CronLine, afterLocalMs: number): number | null {
  const today = Math.floor(afterLocalMs / DAY_MS) * DAY_MS;
  for (let day = 0; day < MAX_DAYS; day += 1) {
    const start = today + day * DAY_MS;
    if (!line.matchesDay(start)) continue;
    const inDay = firstInDay(line, afterLocalMs - start);
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

/** The next tick of a line that ticks in both hours when an hour is repeated. */
function nextRepeatedMs(line: CronLine, timezone: string, afterMs: number): number | null {
  const localMs = nextLocalMs(line, localTimeMs(afterMs, timezone));
  const candidate = toInstants(localMs, timezone).find((ms) => ms > afterMs) ?? null;
  const change = offsetChange(timezone, afterMs, candidate ?? afterMs + DAY_MS);
  if (change === null || change.after > change.before) return candidate;
  const local = nextLocalMs(line, change.atMs + change.after - 1000);
  const repeated = local === null ? null : local - change.after;
  if (repeated === null || repeated <= afterMs) return candidate;
  return candidate === null ? repeated : Math.min(candidate, repeated);
}

/**
 * The ticks after a moment that belong to times skipped shortly before `byMs`. A skipped time ticks later, between times
 * that are not skipped, so that ticks are not in the order of local times.
 */
function ticksAtSkip(line: CronLine, timezone: string, afterMs: number, byMs: number): number[] {
  const change = offsetChange(timezone, byMs - MAX_SKIP_MS, byMs);
  if (change === null) return [];
  const { atMs, before, after } = change;
  const fromMs = Math.max(afterMs, atMs - 1);
  return [before, after].flatMap((offset) => {
    const localMs = nextLocalMs(line, fromMs + offset);
    return localMs !== null && localMs - offset < atMs + after - before ? [localMs - offset] : [];
  });
}

/** The next tick of a line that ticks once when an hour is repeated: in the first of the two. */
function nextOnceMs(line: CronLine, timezone: string, fromLocalMs: number, afterMs: number): number | null {
  let localMs = nextLocalMs(line, fromLocalMs);
  while (localMs !== null) {
    const [first = 0] = toInstants(localMs, timezone);
    if (first > afterMs) return first;
    localMs = nextLocalMs(line, localMs);
  }
  return null;
}

/** The moments with a local time in the zone. For a skipped local time, the moment that is later by what was skipped. */
function toInstants(localMs: number | null, timezone: string): readonly number[] {
  if (localMs === null) return [];
  const before = localMs - offsetMs(localMs - DAY_MS, timezone);
  const after = localMs - offsetMs(localMs + DAY_MS, timezone);
  const moments = [...new Set([before, after])].filter((ms) => localTimeMs(ms, timezone) === localMs);
  return moments.length === 0 ? [Math.max(before, after)] : moments.toSorted(ascending);
}

interface OffsetChange {
  /** The first moment with the new offset. */
  readonly atMs: number;
  readonly before: number;
  readonly after: number;
}

/** The change of a zone's offset within (fromMs, toMs]; null when both ends have the same offset. */
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
