// When cron lines tick: node-cron computes it. It cannot look back, which freeze windows need, so that part is here.
import { createTask, parse, type ScheduledTask } from 'node-cron';
import { DAY_MS } from '../core/durations-and-sizes.ts';

/** Other lines are computed again. */
const MAX_LINES = 5000;

/** No change to daylight saving time moves the clocks by more. */
const MOST_MOVED_MS = 3 * 3_600_000;

const SILENT = {
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  debug: () => undefined,
};

/** The next `count` ticks from now on, in epoch milliseconds. */
export function nextTicks(cron: string, timezone: string, count: number): readonly number[] {
  const task = createTask(cron, () => undefined, { timezone, logger: SILENT });
  try {
    return task.getNextRuns(count).map((date) => date.getTime());
  } finally {
    void task.destroy();
  }
}

const upcoming = new Map<string, number>();

/** The next tick from now on, which is remembered until it has passed. */
export function nextTickMs(cron: string, timezone: string): number | null {
  const key = `${cron} ${timezone}`;
  const known = upcoming.get(key) ?? 0;
  if (known > Date.now()) return known;
  const [next = null] = nextTicks(cron, timezone, 1);
  if (upcoming.size >= MAX_LINES) upcoming.clear();
  if (next !== null) upcoming.set(key, next);
  return next;
}

/** The times between the next eight ticks, in milliseconds; a schedule of working days includes a weekend. */
export function gapsMs(cron: string, timezone: string): number[] {
  const ticks = nextTicks(cron, timezone, 8);
  return ticks.slice(1).map((ms, index) => ms - (ticks[index] ?? ms));
}

/**
 * Whether a line ticked after `afterMs` and not after `upToMs` (epoch milliseconds). Both count as times of the wall clock in
 * the zone at `upToMs`, so that a time that is skipped or repeated ticks too. In the hours after the clocks were changed the
 * earlier wall clock counts as well: it is better to be frozen for too long.
 */
export function cronTicked(cron: string, timezone: string, afterMs: number, upToMs: number): boolean {
  return [upToMs, upToMs - MOST_MOVED_MS]
    .map((atMs) => offsetMs(atMs, timezone))
    .some((offset) => tickedOnWall(readLine(cron), afterMs + offset, upToMs + offset));
}

interface Line {
  /** Matches times of the wall clock that are written as if its zone were UTC. */
  readonly task: ScheduledTask;
  /** The times of a day that tick, the latest first. */
  readonly hours: readonly number[];
  readonly minutes: readonly number[];
  readonly seconds: readonly number[];
}

const lines = new Map<string, Line>();

function readLine(cron: string): Line {
  const known = lines.get(cron);
  if (known !== undefined) return known;
  const { hour, minute, second } = parse(cron);
  const latestFirst = (values: readonly number[]) => values.toSorted((a, b) => b - a);
  const task = createTask(cron, () => undefined, { timezone: 'Etc/UTC', logger: SILENT });
  const line = { task, hours: latestFirst(hour), minutes: latestFirst(minute), seconds: latestFirst(second) };
  lines.set(cron, line);
  return line;
}

/** Looks at the latest time of each day, because a day matches for all its times or for none. */
function tickedOnWall(line: Line, afterMs: number, upToMs: number): boolean {
  const today = Math.floor(upToMs / DAY_MS) * DAY_MS;
  for (let day = today; day + DAY_MS > afterMs; day -= DAY_MS) {
    const ms = latestInDay(line, upToMs - day);
    if (ms !== null && day + ms > afterMs && line.task.match(new Date(day + ms))) return true;
  }
  return false;
}

/** The latest time of a day, in milliseconds since its midnight, that is not after `upToMs`. */
function latestInDay({ hours, minutes, seconds }: Line, upToMs: number): number | null {
  for (const hour of hours) {
    for (const minute of minutes) {
      for (const second of seconds) {
        const ms = (hour * 3600 + minute * 60 + second) * 1000;
        if (ms <= upToMs) return ms;
      }
    }
  }
  return null;
}

const clocks = new Map<string, Intl.DateTimeFormat>();

/** How far a zone is ahead of UTC at a moment, in milliseconds. */
function offsetMs(atMs: number, timeZone: string): number {
  const clock =
    clocks.get(timeZone) ??
    new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
  clocks.set(timeZone, clock);
  // Swedish times are written as 2026-06-01 12:00:00.
  const wallMs = Date.parse(`${clock.format(atMs).replace(' ', 'T')}Z`);
  return wallMs - Math.floor(atMs / 1000) * 1000;
}
