// Decides when each account runs: at the ticks of its cron line with jitter, once after missed ticks, and less often while
// it fails. Time is that of the injected clock, so that a test can make it jump.
import type { Trigger } from '../core/journal.ts';
import type { Clock } from '../core/ports/clock.ts';
import { gapsMs, latestTickMs, nextTickMs } from './cron.ts';
import type { Log } from './log.ts';
import { backoffEndMs, firstTickMs, jitteredMs, triggerOf } from './next-run.ts';

/** The longest time between two looks at the clock: timers do not notice that it was set. */
const MAX_SLEEP_MS = 1000;

/** A larger step back is not an ordinary correction of the clock. */
const JUMP_BACK_MS = 2000;

export interface Schedule {
  readonly name: string;
  readonly schedule: string;
  readonly timezone: string;
  readonly jitterMs: number;
  /** Another value when the account's file has changed, which ends the backoff. */
  readonly revision: object | string;
}

export interface SchedulerOptions {
  readonly clock: Clock;
  /** From 0 to 1, for the jitter. */
  readonly random: () => number;
  readonly log: Log;
}

export interface Scheduler {
  /** Calls `onTick` for each tick from now on. */
  start(onTick: (account: string, trigger: Trigger) => void): void;
  /** Replaces the schedules by these. Unchanged ones keep their next tick. */
  update(accounts: readonly Schedule[]): void;
  /** Reports the end of a run with the number of failures in a row, 0 after a success. After failures ticks are skipped. */
  ended(account: string, failures: number): void;
  /** Whether a tick has passed since a moment, such as the last run before a downtime. It counts as the latest tick then. */
  takeMissedTick(account: string, sinceMs: number): boolean;
  /** The latest tick that the account was to run for. */
  lastTickMs(account: string): number | null;
  nextRunMs(account: string): number | null;
  /** The accounts whose ticks are skipped at the moment, because their runs failed. */
  backingOff(): readonly string[];
  /** Before then no tick starts a run, because the runs of the account failed. */
  backoffUntilMs(account: string): number | null;
  /** The longest time between two of the next ticks, which for a line of working days includes the weekend. */
  longestGapMs(account: string): number | null;
  /** When the loop last looked at the clock, for the watchdog. */
  lastBeatMs(): number;
  stop(): Promise<void>;
}

interface Slot {
  readonly schedule: Schedule;
  /** The shortest time between two of the next ticks. */
  readonly everyMs: number;
  readonly longestGapMs: number;
  /** The next tick that has not been handled. */
  dueMs: number | null;
  /** A tick that waits for the end of its jitter. */
  waiting: { readonly startMs: number; readonly trigger: Trigger } | null;
  /** The latest handled tick, or the moment when the account was added. */
  lastTickMs: number;
  failures: number;
}

export function createScheduler(options: SchedulerOptions): Scheduler {
  const { clock, log } = options;
  const slots = new Map<string, Slot>();
  let wake = new AbortController();
  let beatMs = clock.nowMs();
  let stopped = false;

  function sleep(ms: number): Promise<void> {
    wake = new AbortController();
    return clock.sleep(ms, wake.signal);
  }

  async function loop(onTick: (account: string, trigger: Trigger) => void): Promise<void> {
    while (!stopped) {
      const nowMs = clock.nowMs();
      if (nowMs < beatMs - JUMP_BACK_MS) reschedule(nowMs);
      beatMs = nowMs;
      for (const slot of slots.values()) handle(slot, nowMs, onTick);
      const nextMs = Math.min(...[...slots.values()].map(nextEventMs));
      await sleep(Math.max(1, Math.min(MAX_SLEEP_MS, nextMs - clock.nowMs())));
    }
  }

  /** After the clock was set back, all next ticks are computed again, because they may be far in the future. */
  function reschedule(nowMs: number): void {
    log.warn(
      { event: 'clock_set_back', byMs: beatMs - nowMs },
      'the clock was set back; the next ticks are computed again',
    );
    for (const slot of slots.values()) {
      slot.dueMs = nextTickMs(slot.schedule.schedule, slot.schedule.timezone, nowMs);
      slot.lastTickMs = Math.min(slot.lastTickMs, nowMs);
    }
  }

  function handle(slot: Slot, nowMs: number, onTick: (account: string, trigger: Trigger) => void): void {
    if (slot.waiting !== null && slot.waiting.startMs <= nowMs) {
      const { trigger } = slot.waiting;
      slot.waiting = null;
      onTick(slot.schedule.name, trigger);
    }
    if (slot.dueMs === null || slot.dueMs > nowMs) return;
    const tickMs = slot.dueMs;
    const { schedule, timezone } = slot.schedule;
    // Several missed ticks start only one run. Another process may have made the runs of the earlier ones.
    const latestMs = latestTickMs(schedule, timezone, tickMs, nowMs) ?? tickMs;
    slot.dueMs = nextTickMs(schedule, timezone, nowMs);
    // The tolerance keeps a daily tick on the day that has only 23 hours.
    if (latestMs + slot.everyMs / 10 < backoffEndMs(slot)) return;
    slot.lastTickMs = latestMs;
    slot.waiting = {
      startMs: jitteredMs(tickMs, slot.schedule.jitterMs, slot.everyMs, options.random()),
      trigger: triggerOf(tickMs, nowMs),
    };
    handle(slot, nowMs, onTick);
  }

  function add(schedule: Schedule): Slot {
    const nowMs = clock.nowMs();
    const gaps = gapsMs(schedule.schedule, schedule.timezone, nowMs);
    return {
      schedule,
      everyMs: gaps.length === 0 ? 0 : Math.min(...gaps),
      longestGapMs: Math.max(0, ...gaps),
      dueMs: nextTickMs(schedule.schedule, schedule.timezone, nowMs),
      waiting: null,
      lastTickMs: nowMs,
      failures: 0,
    };
  }

  let running: Promise<void> | null = null;

  return {
    start(onTick) {
      running ??= loop(onTick);
    },
    update(accounts) {
      const names = new Set(accounts.map(({ name }) => name));
      for (const name of slots.keys()) {
        if (names.has(name)) continue;
        slots.delete(name);
        log.info({ event: 'unscheduled', account: name }, 'account removed from the configuration');
      }
      for (const schedule of accounts) {
        const slot = slots.get(schedule.name);
        if (slot?.schedule.revision === schedule.revision) continue;
        const fresh = add(schedule);
        slots.set(schedule.name, fresh);
        if (slot === undefined || !isSameTime(slot.schedule, schedule)) logSchedule(log, fresh);
        else {
          const { dueMs, waiting, lastTickMs } = slot;
          Object.assign(fresh, { dueMs, waiting, lastTickMs });
        }
      }
      wake.abort();
    },
    ended(account, failures) {
      const slot = slots.get(account);
      if (slot !== undefined) slot.failures = failures;
    },
    takeMissedTick(account, sinceMs) {
      const slot = slots.get(account);
      if (slot === undefined) return false;
      const { schedule, timezone } = slot.schedule;
      const tickMs = latestTickMs(schedule, timezone, sinceMs, clock.nowMs());
      if (tickMs !== null) slot.lastTickMs = tickMs;
      return tickMs !== null;
    },
    lastTickMs: (account) => slots.get(account)?.lastTickMs ?? null,
    nextRunMs(account) {
      const slot = slots.get(account);
      if (slot === undefined) return null;
      if (slot.waiting !== null) return slot.waiting.startMs;
      return firstTickMs(slot.schedule, slot.dueMs, slot);
    },
    backingOff: () =>
      [...slots.values()].flatMap((slot) => (backoffEndMs(slot) > clock.nowMs() ? [slot.schedule.name] : [])),
    backoffUntilMs(account) {
      const slot = slots.get(account);
      if (slot === undefined) return null;
      const untilMs = backoffEndMs(slot);
      return untilMs > clock.nowMs() ? untilMs : null;
    },
    longestGapMs: (account) => slots.get(account)?.longestGapMs ?? null,
    lastBeatMs: () => beatMs,
    async stop() {
      stopped = true;
      wake.abort();
      await running;
    },
  };
}

function nextEventMs({ dueMs, waiting }: Slot): number {
  return Math.min(dueMs ?? Infinity, waiting?.startMs ?? Infinity);
}

function isSameTime(a: Schedule, b: Schedule): boolean {
  return a.schedule === b.schedule && a.timezone === b.timezone && a.jitterMs === b.jitterMs;
}

function logSchedule(log: Log, { schedule: { name, schedule, timezone }, dueMs }: Slot): void {
  const next = dueMs === null ? null : new Date(dueMs).toISOString();
  log.debug({ event: 'scheduled', account: name, schedule, timezone, next }, 'account scheduled');
}
