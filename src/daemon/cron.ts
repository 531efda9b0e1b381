// When cron lines, and the schedules of accounts, tick: node-cron computes it. Its timers are not used, because they do not
// notice that the clock was set. It cannot look back, which freeze windows need, so that part is here.
import { createTask, parse, type ScheduledTask, validate } from 'node-cron';
import type { Tick } from '../core/ports/locks.ts';
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

/** A larger step back is not an ordinary correction of the clock. */
const JUMP_MS = 2000;
/** A tick that is noticed later than this is a catch-up: the process or the machine was suspended, or the clock was set. */
const LATE_MS = 60_000;
/** The jitter of a run: a tenth of the interval, and at most this. */
const MOST_JITTER_MS = 30_000;
/** Several, so that none is missed where the clock of this machine is ahead of that of the store. */
const UPCOMING = 8;

export interface Schedule {
  readonly name: string;
  readonly schedule: string;
  readonly timezone: string;
}

/** The accounts with the same cron line and time zone. */
interface Line extends Pick<Schedule, 'schedule' | 'timezone'> {
  readonly accounts: string[];
  readonly jitterMs: number;
  readonly longestGapMs: number;
  /** The next ticks, in order. */
  upcoming: number[];
}

export class Ticks {
  readonly #lines = new Map<string, Line>();
  readonly #lineOf = new Map<string, Line>();
  #lookedMs = Number.NEGATIVE_INFINITY;

  /** Replaces the schedules by these. Lines that remain keep their next ticks. */
  update(schedules: readonly Schedule[]): void {
    const before = new Map(this.#lines);
    this.#lines.clear();
    this.#lineOf.clear();
    for (const each of schedules) {
      const key = `${each.schedule} ${each.timezone}`;
      const line = this.#lines.get(key) ?? { ...(before.get(key) ?? newLine(each)), accounts: [] };
      line.accounts.push(each.name);
      this.#lines.set(key, line);
      this.#lineOf.set(each.name, line);
    }
  }

  /** The latest tick of each account since the last `advance`. Computes all ticks again when the clock was set back. */
  passed(nowMs: number): Tick[] {
    if (nowMs < this.#lookedMs - JUMP_MS) for (const line of this.#lines.values()) line.upcoming = [];
    this.#lookedMs = nowMs;
    const ticks: Tick[] = [];
    for (const line of this.#lines.values()) {
      refill(line);
      const tickMs = line.upcoming.findLast((ms) => ms <= nowMs);
      if (tickMs === undefined) continue;
      const trigger = nowMs - tickMs > LATE_MS ? 'catch_up' : 'schedule';
      for (const account of line.accounts)
        ticks.push({ account, tickMs, dueMs: tickMs + Math.random() * line.jitterMs, trigger });
    }
    return ticks;
  }

  /** Goes on to the ticks after this time: those before it are stored. */
  advance(nowMs: number): void {
    for (const line of this.#lines.values()) line.upcoming = line.upcoming.filter((ms) => ms > nowMs);
  }

  nextMs(account: string): number | null {
    const line = this.#lineOf.get(account);
    return line?.upcoming.find((ms) => ms > this.#lookedMs) ?? null;
  }

  longestGapMs(account: string): number | null {
    return this.#lineOf.get(account)?.longestGapMs ?? null;
  }
}

function newLine({ schedule, timezone }: Schedule): Omit<Line, 'accounts'> {
  const gaps = gapsMs(schedule, timezone);
  return {
    schedule,
    timezone,
    jitterMs: gaps.length === 0 ? 0 : Math.min(Math.min(...gaps) / 10, MOST_JITTER_MS),
    longestGapMs: Math.max(0, ...gaps),
    upcoming: [...nextTicks(schedule, timezone, UPCOMING)],
  };
}

function refill(line: Line): void {
  if (line.upcoming.length > UPCOMING / 2) return;
  const last = line.upcoming.at(-1) ?? 0;
  line.upcoming.push(...nextTicks(line.schedule, line.timezone, UPCOMING).filter((ms) => ms > last));
}
