// When the schedules of accounts tick, in memory. node-cron computes the ticks; its timers are not used, because they do not
// notice that the clock was set.
import type { Tick } from '../core/ports/locks.ts';
import { gapsMs, nextTicks } from './cron.ts';

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
  readonly accounts: Set<string>;
  readonly jitterMs: number;
  readonly longestGapMs: number;
  /** The next ticks, in order. */
  upcoming: number[];
}

export class Ticks {
  readonly #lines = new Map<string, Line>();
  readonly #lineOf = new Map<string, Line>();
  #lookedMs = Number.NEGATIVE_INFINITY;

  /** Replaces the schedules by these. Unchanged ones keep their next tick. */
  update(schedules: readonly Schedule[]): void {
    const names = new Set(schedules.map(({ name }) => name));
    for (const name of this.#lineOf.keys()) if (!names.has(name)) this.#remove(name);
    for (const each of schedules) {
      const line = this.#lineOf.get(each.name);
      if (line !== undefined && keyOf(line) === keyOf(each)) continue;
      this.#remove(each.name);
      const next = this.#lines.get(keyOf(each)) ?? this.#addLine(each);
      this.#lineOf.set(each.name, next);
      next.accounts.add(each.name);
    }
  }

  #remove(name: string): void {
    const line = this.#lineOf.get(name);
    this.#lineOf.delete(name);
    line?.accounts.delete(name);
    if (line?.accounts.size === 0) this.#lines.delete(keyOf(line));
  }

  #addLine({ schedule, timezone }: Schedule): Line {
    const gaps = gapsMs(schedule, timezone);
    const line: Line = {
      schedule,
      timezone,
      accounts: new Set(),
      jitterMs: gaps.length === 0 ? 0 : Math.min(Math.min(...gaps) / 10, MOST_JITTER_MS),
      longestGapMs: Math.max(0, ...gaps),
      upcoming: [...nextTicks(schedule, timezone, UPCOMING)],
    };
    this.#lines.set(keyOf(line), line);
    return line;
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

function refill(line: Line): void {
  if (line.upcoming.length > UPCOMING / 2) return;
  const last = line.upcoming.at(-1) ?? 0;
  line.upcoming.push(...nextTicks(line.schedule, line.timezone, UPCOMING).filter((ms) => ms > last));
}

function keyOf({ schedule, timezone }: Pick<Schedule, 'schedule' | 'timezone'>): string {
  return `${schedule} ${timezone}`;
}
