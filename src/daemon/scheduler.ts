// Decides when each account runs: node-cron ticks for each cron line and time zone; each account of it then waits for its
// jitter. What node-cron lacks is here: its timers do not notice that the clock was set.
import { createTask, type ScheduledTask } from 'node-cron';
import type { Trigger } from '../core/journal.ts';
import { gapsMs } from './cron.ts';
import type { Log } from './log.ts';

/** The time between two looks at the clock. */
const LOOK_MS = 1000;

/** A larger step is not an ordinary correction of the clock, and no timer is that late while the process works. */
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
interface Line {
  readonly key: string;
  readonly task: ScheduledTask;
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
  let looks: NodeJS.Timeout | undefined;
  let lookedMs = Date.now();

  function addLine(key: string, { schedule, timezone }: Schedule): Line {
    const gaps = gapsMs(schedule, timezone);
    const task = createTask(schedule, ({ date }) => tick(line, date.getTime()), {
      timezone,
      // A late tick starts a run; of several only the last.
      missedExecutionTolerance: Infinity,
      suppressMissedWarning: true,
      logger: {
        debug: () => undefined,
        info: () => undefined,
        warn: () => undefined,
        error: (error) => log.error({ event: 'tick_failed', error: String(error) }, 'a tick failed'),
      },
    });
    const line: Line = {
      key,
      task,
      jitters: new Map(),
      everyMs: gaps.length === 0 ? 0 : Math.min(...gaps),
      longestGapMs: Math.max(0, ...gaps),
      nextMs: firstTickMs(task),
    };
    lines.set(key, line);
    if (onTick !== null) void task.start();
    return line;
  }

  function remove(account: string): void {
    const line = lineOf.get(account);
    lineOf.delete(account);
    line?.jitters.delete(account);
    if (line?.jitters.size !== 0) return;
    lines.delete(line.key);
    void line.task.destroy();
  }

  function tick(line: Line, tickMs: number): void {
    line.nextMs = firstTickMs(line.task);
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

  /** Ticks once for each line whose tick passed `lateMs` ago without its timer, and starts the timers again after the clock was set. */
  function look(lateMs: number): void {
    const nowMs = Date.now();
    const isSetBack = nowMs < lookedMs - JUMP_MS;
    if (isSetBack)
      log.warn(
        { event: 'clock_set_back', byMs: lookedMs - nowMs },
        'the clock was set back; the next ticks are computed again',
      );
    lookedMs = nowMs;
    for (const line of lines.values()) {
      const dueMs = line.nextMs;
      if (!isSetBack && nowMs < dueMs + lateMs) continue;
      void line.task.stop();
      line.nextMs = firstTickMs(line.task);
      void line.task.start();
      if (!isSetBack) tick(line, dueMs);
    }
  }

  return {
    start(listener) {
      onTick = listener;
      for (const { task } of lines.values()) void task.start();
      look(0);
      looks = setInterval(() => look(JUMP_MS), LOOK_MS);
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
        const key = `${schedule} ${timezone}`;
        if (lineOf.get(name)?.key !== key) {
          remove(name);
          const line = lines.get(key) ?? addLine(key, account);
          lineOf.set(name, line);
          const next = new Date(line.nextMs).toISOString();
          log.debug({ event: 'scheduled', account: name, schedule, timezone, next }, 'account scheduled');
        }
        lineOf.get(name)?.jitters.set(name, jitterMs);
      }
    },
    nextRunMs: (account) => waiting.get(account)?.startMs ?? lineOf.get(account)?.nextMs ?? null,
    nextTickMs: (account) => lineOf.get(account)?.nextMs ?? null,
    ticksAt: (account, ms) => lineOf.get(account)?.task.match(new Date(ms)) ?? false,
    longestGapMs: (account) => lineOf.get(account)?.longestGapMs ?? null,
    stop() {
      clearInterval(looks);
      for (const { task } of lines.values()) void task.destroy();
      for (const { timer } of waiting.values()) clearTimeout(timer);
      lines.clear();
      lineOf.clear();
      waiting.clear();
      onTick = null;
    },
  };
}

/** The first tick from now on. A configured line always has one. */
function firstTickMs(task: ScheduledTask): number {
  return task.getNextRuns(1)[0]?.getTime() ?? Infinity;
}
