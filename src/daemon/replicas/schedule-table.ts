// The schedules that a replica knows from its files, with the next ticks to store and to show.
import type { CronLine, DueSchedule, NextTick, StoredTurns } from '../../core/turn-store.ts';
import type { AccountSchedule } from '../../core/turns.ts';
import { jitteredMs } from '../next-run.ts';
import { firstTick } from './next-tick.ts';

export interface ScheduleTable {
  set(schedules: readonly AccountSchedule[]): void;
  /** The accounts that are stored, in the order of their names. */
  accounts(): readonly string[];
  /** The base addresses that are stored: the file of an account may be invalid here, or may not be read yet. */
  lanes(): ReadonlySet<string>;
  /** The schedules with their first tick after a moment. */
  due(schedules: readonly AccountSchedule[], nowMs: number): readonly DueSchedule[];
  setStored(stored: StoredTurns): void;
  nextRunMs(account: string, nowMs: number): number | null;
  longestGapMs(account: string, nowMs: number): number | null;
}

export function createScheduleTable(random: () => number): ScheduleTable {
  let schedules: ReadonlyMap<string, AccountSchedule> = new Map();
  let stored: StoredTurns = { accounts: [], nextRuns: new Map(), lanes: new Set() };
  let gaps = tickReader();

  return {
    set(next) {
      schedules = new Map(next.map((schedule) => [schedule.name, schedule]));
      gaps = tickReader();
    },
    accounts: () => stored.accounts,
    lanes: () => stored.lanes,
    due(wanted, nowMs) {
      const read = tickReader();
      return wanted.map((schedule) => ({
        ...schedule,
        ...startOf(schedule, read(schedule, nowMs), random()),
      }));
    },
    setStored(next) {
      stored = next;
    },
    nextRunMs(account, nowMs) {
      const known = stored.nextRuns.get(account);
      const line = schedules.get(account);
      // Until the store has been read, which a first look at the schedules in the log does not wait for.
      return known ?? (line === undefined || stored.nextRuns.size > 0 ? null : firstTick(line, nowMs).tickMs);
    },
    longestGapMs(account, nowMs) {
      const line = schedules.get(account);
      return line === undefined ? null : gaps(line, nowMs).longestGapMs;
    },
  };
}

/** Most accounts share a few lines, and computing the ticks of a line takes a tenth of a millisecond. */
function tickReader(): typeof firstTick {
  const known = new Map<string, ReturnType<typeof firstTick>>();
  return (line, nowMs) => {
    const key = `${line.timezone} ${line.schedule}`;
    const ticks = known.get(key) ?? firstTick(line, nowMs);
    known.set(key, ticks);
    return ticks;
  };
}

function startOf(
  { jitterMs }: CronLine,
  { tickMs, everyMs }: ReturnType<typeof firstTick>,
  random: number,
): NextTick {
  const dueMs = tickMs === null ? null : jitteredMs(tickMs, jitterMs, everyMs, random);
  return { tickMs, dueMs, backoffUntilMs: null };
}
