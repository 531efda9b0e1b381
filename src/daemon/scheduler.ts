// When each account runs: its cron line's ticks with jitter, late ones too, one catch-up after a gap, and less often
// while it fails. Time is the injected clock's, so that a test can make it jump.
import type { Trigger } from '../core/journal.ts';
import type { Clock } from '../core/ports.ts';
import { gapsMs, nextTickMs } from './cron.ts';
import type { Log } from './log.ts';

/** The clock is looked at this often at least: timers do not notice that it was set. */
const LONGEST_SLEEP_MS = 1000;

/** A tick that starts later than this is told as a catch-up: the process, or the machine, was away. */
const LATE_MS = 60_000;

/** The clock went back by more than a correction does. */
const JUMP_BACK_MS = 2000;

const LONGEST_BACKOFF_MS = 3_600_000;

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
  /** Asks for a run. False when the account still runs or waits. */
  readonly request: (account: string, trigger: Trigger) => boolean;
  readonly onSkippedTick: (account: string) => void;
}

export interface Scheduler {
  /** Begins to look at the clock; before that no tick starts a run. */
  start(): void;
  /** Makes the schedules those of these accounts; unchanged ones go on undisturbed. */
  update(accounts: readonly Schedule[]): void;
  /** Tells how a run ended: `failures` in a row, 0 after a success; the account's next ticks may be left out. */
  ended(account: string, failures: number): void;
  /** Whether a tick has passed since a moment: what a start after downtime asks. */
  missedTickSince(account: string, sinceMs: number): boolean;
  /** The tick for which the account was asked to run last. */
  lastTickMs(account: string): number | null;
  nextRunMs(account: string): number | null;
  /** The accounts whose ticks are left out at the moment, because they failed. */
  heldBack(): readonly string[];
  /** Before then no tick starts a run, because the account failed. */
  backoffUntilMs(account: string): number | null;
  /** The longest time between two of the next ticks: a line for working days has its weekend. */
  longestGapMs(account: string): number | null;
  /** When the loop last came around, for the watchdog. */
  lastBeatMs(): number;
  stop(): Promise<void>;
}

interface Slot {
  readonly schedule: Schedule;
  /** The shortest time between two of the next ticks. */
  readonly everyMs: number;
  readonly longestGapMs: number;
  /** The next tick that has not been looked at. */
  dueMs: number | null;
  /** A tick whose jitter passes at the moment. */
  waiting: { readonly startMs: number; readonly trigger: Trigger } | null;
  /** The tick, or the moment, at which the latest run was asked for. */
  lastTickMs: number;
  failures: number;
}

export function createScheduler(options: SchedulerOptions): Scheduler {
  const { clock, log } = options;
  const slots = new Map<string, Slot>();
  let wake = new AbortController();
  let beatMs = clock.nowMs();
  let stopped = false;

  function rest(ms: number): Promise<void> {
    wake = new AbortController();
    return clock.sleep(ms, wake.signal);
  }

  async function loop(): Promise<void> {
    while (!stopped) {
      const nowMs = clock.nowMs();
      if (nowMs < beatMs - JUMP_BACK_MS) reschedule(nowMs);
      beatMs = nowMs;
      for (const slot of slots.values()) look(slot, nowMs);
      const nextMs = Math.min(...[...slots.values()].map(nextEventMs));
      await rest(Math.max(1, Math.min(LONGEST_SLEEP_MS, nextMs - clock.nowMs())));
    }
  }

  /** The clock was set back: what was due lies in a future that may never come. */
  function reschedule(nowMs: number): void {
    log.warn({ event: 'clock_set_back', byMs: beatMs - nowMs }, 'the clock went back; schedules start anew');
    for (const slot of slots.values()) {
      slot.dueMs = nextTickMs(slot.schedule.schedule, slot.schedule.timezone, nowMs);
      slot.lastTickMs = Math.min(slot.lastTickMs, nowMs);
    }
  }

  function look(slot: Slot, nowMs: number): void {
    if (slot.waiting !== null && slot.waiting.startMs <= nowMs) {
      const { trigger } = slot.waiting;
      slot.waiting = null;
      if (!options.request(slot.schedule.name, trigger)) options.onSkippedTick(slot.schedule.name);
    }
    if (slot.dueMs === null || slot.dueMs > nowMs) return;
    const tickMs = slot.dueMs;
    // However many ticks have passed meanwhile, they are one.
    slot.dueMs = nextTickMs(slot.schedule.schedule, slot.schedule.timezone, nowMs);
    // A day of 23 hours is a day.
    if (tickMs + slot.everyMs / 10 < holdUntilMs(slot)) return;
    slot.lastTickMs = tickMs;
    const isLate = nowMs - tickMs > LATE_MS;
    const jitterMs = options.random() * Math.min(slot.schedule.jitterMs, slot.everyMs / 10);
    slot.waiting = { startMs: tickMs + jitterMs, trigger: isLate ? 'catch_up' : 'schedule' };
    look(slot, nowMs);
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
    start() {
      running ??= loop();
    },
    update(accounts) {
      const names = new Set(accounts.map(({ name }) => name));
      for (const name of slots.keys()) {
        if (names.has(name)) continue;
        slots.delete(name);
        log.info({ event: 'unscheduled', account: name }, 'account is configured no more');
      }
      for (const schedule of accounts) {
        const slot = slots.get(schedule.name);
        if (slot?.schedule.revision === schedule.revision) continue;
        const fresh = add(schedule);
        slots.set(schedule.name, fresh);
        if (slot === undefined || !isSameTime(slot.schedule, schedule)) logSchedule(log, fresh);
        else Object.assign(fresh, { dueMs: slot.dueMs, waiting: slot.waiting });
      }
      wake.abort();
    },
    ended(account, failures) {
      const slot = slots.get(account);
      if (slot !== undefined) slot.failures = failures;
    },
    missedTickSince(account, sinceMs) {
      const slot = slots.get(account);
      if (slot === undefined) return false;
      const tick = nextTickMs(slot.schedule.schedule, slot.schedule.timezone, sinceMs);
      return tick !== null && tick <= clock.nowMs();
    },
    lastTickMs: (account) => slots.get(account)?.lastTickMs ?? null,
    nextRunMs(account) {
      const slot = slots.get(account);
      if (slot === undefined) return null;
      if (slot.waiting !== null) return slot.waiting.startMs;
      const { schedule, timezone } = slot.schedule;
      const holdMs = holdUntilMs(slot);
      const soonestMs = holdMs - slot.everyMs / 10;
      return slot.dueMs === null || slot.dueMs >= soonestMs
        ? slot.dueMs
        : nextTickMs(schedule, timezone, soonestMs - 1);
    },
    heldBack: () =>
      [...slots.values()].flatMap((slot) => (holdUntilMs(slot) > clock.nowMs() ? [slot.schedule.name] : [])),
    backoffUntilMs(account) {
      const slot = slots.get(account);
      if (slot === undefined) return null;
      const untilMs = holdUntilMs(slot);
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

/** Each failure in a row doubles the account's own interval, up to an hour; who runs seldomer than that waits for no more. */
function holdUntilMs({ failures, everyMs, lastTickMs }: Slot): number {
  if (failures < 2 || everyMs >= LONGEST_BACKOFF_MS) return -Infinity;
  return lastTickMs + Math.min(everyMs * 2 ** Math.min(failures - 1, 30), LONGEST_BACKOFF_MS);
}

function isSameTime(a: Schedule, b: Schedule): boolean {
  return a.schedule === b.schedule && a.timezone === b.timezone && a.jitterMs === b.jitterMs;
}

function logSchedule(log: Log, { schedule: { name, schedule, timezone }, dueMs }: Slot): void {
  const next = dueMs === null ? null : new Date(dueMs).toISOString();
  log.debug({ event: 'scheduled', account: name, schedule, timezone, next }, 'account scheduled');
}
