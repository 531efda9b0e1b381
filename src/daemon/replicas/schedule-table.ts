// The schedules that a replica knows from its files, with the next ticks to store and to show.
import type { CronLine, DueSchedule, NextTick } from '../../core/turn-store.ts';
import type { AccountSchedule } from '../../core/turns.ts';
import { gapsMs } from '../cron.ts';
import { nextTick } from './next-tick.ts';

export interface ScheduleTable {
  set(schedules: readonly AccountSchedule[]): void;
  lanes(): ReadonlySet<string>;
  /** The schedules with their first tick after a moment. */
  due(schedules: readonly AccountSchedule[], nowMs: number): readonly DueSchedule[];
  tickAfter(line: CronLine, nowMs: number): NextTick;
  setNextRuns(nextRuns: ReadonlyMap<string, number>): void;
  nextRunMs(account: string): number | null;
  longestGapMs(account: string, nowMs: number): number | null;
}

export function createScheduleTable(random: () => number): ScheduleTable {
  let schedules: ReadonlyMap<string, AccountSchedule> = new Map();
  let lanes: ReadonlySet<string> = new Set();
  let nextRuns: ReadonlyMap<string, number> = new Map();
  /** Most accounts share a few lines. */
  const gaps = new Map<string, number>();

  function tickAfter(line: CronLine, nowMs: number): NextTick {
    return nextTick(line, { failures: 0, lastTickMs: nowMs }, nowMs, random());
  }

  return {
    set(next) {
      schedules = new Map(next.map((schedule) => [schedule.name, schedule]));
      lanes = new Set(next.map(({ lane }) => lane));
      gaps.clear();
    },
    lanes: () => lanes,
    tickAfter,
    due: (wanted, nowMs) => wanted.map((schedule) => ({ ...schedule, ...tickAfter(schedule, nowMs) })),
    setNextRuns(next) {
      nextRuns = next;
    },
    nextRunMs: (account) => nextRuns.get(account) ?? null,
    longestGapMs(account, nowMs) {
      const line = schedules.get(account);
      if (line === undefined) return null;
      const key = `${line.timezone} ${line.schedule}`;
      const known = gaps.get(key);
      if (known !== undefined) return known;
      const longest = Math.max(0, ...gapsMs(line.schedule, line.timezone, nowMs));
      gaps.set(key, longest);
      return longest;
    },
  };
}
