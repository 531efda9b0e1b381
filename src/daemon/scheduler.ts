// Decides when each account runs: at the ticks of its cron line in its time zone, after its jitter. node-cron computes the
// ticks; its timers are not used, because they do not notice that the clock was set.
import type { Trigger } from '../core/journal.ts';
import { gapsMs, nextTicks, ticksAt } from './cron.ts';
import type { Log } from './log.ts';

/** The longest time between two looks at the clock. */
const LOOK_MS = 1000;

/** A larger step back is not an ordinary correction of the clock. */
const JUMP_MS = 2000;

/** A tick that starts later than this is a catch-up: the process or the machine was suspended, or the clock was set. */
const LATE_MS = 60_000;

export interface Schedule {
  readonly name: string;
  readonly schedule: string;
  readonly timezone: string;
  readonly jitterMs: number;
}

export interface SchedulerOptions {
  /** From 0 to 1, for the jitter. */
  readonly random: () => number;
  readonly log: Log;
}

export interface Scheduler {
  /** Calls `onTick` for each tick since the first `update`. */
  start(onTick: (account: string, trigger: Trigger) => void): void;
  /** Replaces the schedules by these. Unchanged ones keep their next tick, and a run that waits for its jitter still starts. */
  update(accounts: readonly Schedule[]): void;
  /** When the account runs next: the end of the jitter that it waits for, or its next tick. */
  nextRunMs(account: string): number | null;
  nextTickMs(account: string): number | null;
  /** Whether the account's schedule ticks at this moment. */
  ticksAt(account: string, ms: number): boolean;
  /** The longest time between two of the next ticks, which for a line of working days includes the weekend. */
  longestGapMs(account: string): number | null;
  stop(): void;
}

/** The accounts with the same cron line and time zone. */
interface Line extends Pick<Schedule, 'schedule' | 'timezone'> {
  readonly jitters: Map<string, number>;
  /** The shortest and the longest time between two of the next ticks. */
  readonly everyMs: number;
  readonly longestGapMs: number;
  /** The next tick that has not been handled. */
  nextMs: number;
}

export function createScheduler({ random, log }: SchedulerOptions): Scheduler {
  const lines = new Map<string, Line>();
  const lineOf = new Map<string, Line>();
  /** Ticks that wait for the end of their jitter, by account. */
  const waiting = new Map<string, { readonly startMs: number; readonly timer: NodeJS.Timeout }>();
  let onTick: ((account: string, trigger: Trigger) => void) | null = null;
  let nextLook: NodeJS.Timeout | undefined;
  let lookedMs = Date.now();

  function addLine({ schedule, timezone }: Schedule): Line {
    const gaps = gapsMs(schedule, timezone);
    const line: Line = {
      schedule,
      timezone,
      jitters: new Map(),
      everyMs: gaps.length === 0 ? 0 : Math.min(...gaps),
      longestGapMs: Math.max(0, ...gaps),
      nextMs: firstTickMs({ schedule, timezone }),
    };
    lines.set(keyOf(line), line);
    return line;
  }

  function remove(account: string): void {
    const line = lineOf.get(account);
    lineOf.delete(account);
    line?.jitters.delete(account);
    if (line?.jitters.size === 0) lines.delete(keyOf(line));
  }

  function tick(line: Line, tickMs: number): void {
    const trigger = Date.now() - tickMs > LATE_MS ? 'catch_up' : 'schedule';
    for (const [account, jitterMs] of line.jitters) {
      const startMs = tickMs + random() * Math.min(jitterMs, line.everyMs / 10);
      const delayMs = startMs - Date.now();
      if (waiting.has(account)) continue;
      if (delayMs <= 0) onTick?.(account, trigger);
      else
        waiting.set(account, { startMs, timer: setTimeout(() => startWaiting(account, trigger), delayMs) });
    }
  }

  function startWaiting(account: string, trigger: Trigger): void {
    waiting.delete(account);
    onTick?.(account, trigger);
  }

  /** Ticks once for each line whose tick has passed, also if several have, and computes all ticks again when the clock was set back. */
  function look(): void {
    if (onTick === null) return;
    clearTimeout(nextLook);
    // Also if a tick throws, the next one is not lost.
    nextLook = setTimeout(look, LOOK_MS);
    const nowMs = Date.now();
    const isSetBack = nowMs < lookedMs - JUMP_MS;
    if (isSetBack)
      log.warn(
        { event: 'clock_set_back', byMs: lookedMs - nowMs },
        'the clock was set back; the next ticks are computed again',
      );
    lookedMs = nowMs;
    let soonestMs = nowMs + LOOK_MS;
    for (const line of lines.values()) {
      const dueMs = line.nextMs;
      if (isSetBack || dueMs <= nowMs) line.nextMs = firstTickMs(line);
      if (!isSetBack && dueMs <= nowMs) tick(line, dueMs);
      soonestMs = Math.min(soonestMs, line.nextMs);
    }
    clearTimeout(nextLook);
    nextLook = setTimeout(look, Math.max(1, soonestMs - Date.now()));
  }

  return {
    start(listener) {
      onTick = listener;
      look();
    },
    update(accounts) {
      const names = new Set(accounts.map(({ name }) => name));
      for (const name of lineOf.keys()) {
        if (names.has(name)) continue;
        remove(name);
        clearTimeout(waiting.get(name)?.timer);
        waiting.delete(name);
        log.info({ event: 'unscheduled', account: name }, 'account removed from the configuration');
      }
      for (const account of accounts) {
        const { name, schedule, timezone, jitterMs } = account;
        const known = lineOf.get(name);
        if (known === undefined || keyOf(known) !== keyOf(account)) {
          remove(name);
          const line = lines.get(keyOf(account)) ?? addLine(account);
          lineOf.set(name, line);
          const next = new Date(line.nextMs).toISOString();
          log.debug({ event: 'scheduled', account: name, schedule, timezone, next }, 'account scheduled');
        }
        lineOf.get(name)?.jitters.set(name, jitterMs);
      }
      look();
    },
    nextRunMs: (account) => waiting.get(account)?.startMs ?? lineOf.get(account)?.nextMs ?? null,
    nextTickMs: (account) => lineOf.get(account)?.nextMs ?? null,
    ticksAt(account, ms) {
      const line = lineOf.get(account);
      return line !== undefined && ticksAt(line.schedule, line.timezone, ms);
    },
    longestGapMs: (account) => lineOf.get(account)?.longestGapMs ?? null,
    stop() {
      clearTimeout(nextLook);
      for (const { timer } of waiting.values()) clearTimeout(timer);
      lines.clear();
      lineOf.clear();
      waiting.clear();
      onTick = null;
    },
  };
}

function keyOf({ schedule, timezone }: Pick<Schedule, 'schedule' | 'timezone'>): string {
  return `${schedule} ${timezone}`;
}

/** The first tick from now on. A configured line always has one. */
function firstTickMs({ schedule, timezone }: Pick<Schedule, 'schedule' | 'timezone'>): number {
  return nextTicks(schedule, timezone, 1)[0] ?? Infinity;
}
