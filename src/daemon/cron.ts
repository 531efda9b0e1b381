// When cron lines tick: node-cron computes it. It cannot look back, which freeze windows need, so that part is here.
import { createTask, parse, type ScheduledTask, validate } from 'node-cron';
import { DAY_MS } from '../core/durations-and-sizes.ts';

/** No change to daylight saving time moves the clocks by more. */
const MOST_MOVED_MS = 3 * 3_600_000;

const SILENT = {
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  debug: () => undefined,
};

/** Proposed changes bring their own lines; others are made again. */
const MAX_TASKS = 5000;

/** Tasks that are never started: only their times are read. */
const tasks = new Map<string, ScheduledTask>();

function taskOf(cron: string, timezone: string): ScheduledTask {
  const key = `${cron} ${timezone}`;
  const task = tasks.get(key) ?? createTask(cron, () => undefined, { timezone, logger: SILENT });
  if (tasks.size >= MAX_TASKS) tasks.clear();
  tasks.set(key, task);
  return task;
}

/** Whether node-cron accepts the line. */
export function isCronLine(text: string): boolean {
  return validate(text);
}

/** The next `count` ticks from now on, in epoch milliseconds. */
export function nextTicks(cron: string, timezone: string, count: number): readonly number[] {
  return taskOf(cron, timezone)
    .getNextRuns(count)
    .map((date) => date.getTime());
}

/** Whether a line ticks at this moment. */
function ticksAt(cron: string, timezone: string, ms: number): boolean {
  return taskOf(cron, timezone).match(new Date(ms));
}

const upcoming = new Map<string, number>();

/** The next tick from now on, which is remembered until it has passed. */
export function nextTickMs(cron: string, timezone: string): number | null {
  const key = `${cron} ${timezone}`;
  const known = upcoming.get(key) ?? 0;
  if (known > Date.now()) return known;
  const [next = null] = nextTicks(cron, timezone, 1);
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
    .some((offset) => latestOnWall(cron, afterMs + offset, upToMs + offset) !== null);
}

/** The latest tick of a line after `afterMs` and not after `upToMs`, if there was one. */
export function latestTickMs(cron: string, timezone: string, afterMs: number, upToMs: number): number | null {
  const offset = offsetMs(upToMs, timezone);
  const wallMs = latestOnWall(cron, afterMs + offset, upToMs + offset);
  return wallMs === null ? null : wallMs - offset;
}

/**
 * Looks at the latest time of each day, because a day matches for all its times or for none. Times of the wall clock are
 * written as if its zone were UTC.
 */
function latestOnWall(cron: string, afterMs: number, upToMs: number): number | null {
  const today = Math.floor(upToMs / DAY_MS) * DAY_MS;
  for (let day = today; day + DAY_MS > afterMs; day -= DAY_MS) {
    const ms = latestInDay(cron, upToMs - day);
    if (ms !== null && day + ms > afterMs && ticksAt(cron, 'Etc/UTC', day + ms)) return day + ms;
  }
  return null;
}

/** The latest time of a day, in milliseconds since its midnight, that is not after `upToMs`. */
function latestInDay(cron: string, upToMs: number): number | null {
  const times = parse(cron);
  const latestFirst = (values: readonly number[]) => values.toSorted((a, b) => b - a);
  for (const hour of latestFirst(times.hour)) {
    for (const minute of latestFirst(times.minute)) {
      for (const second of latestFirst(times.second)) {
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
