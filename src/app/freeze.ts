// Whether a freeze window is open (contract, section 4): windows in which nothing is written.
import type { FreezeWindow } from '../core/catalog.ts';
import { DAY_MS } from '../core/history.ts';
import type { OpenFreeze } from '../core/plan.ts';
import type { PlanningDeps } from './request.ts';

/** The windows at any moment, in epoch milliseconds. */
export interface FreezeWatch {
  /** The first window that is open, in words, or null. */
  readonly wordsAt: (nowMs: number) => string | null;
  /** The same with the end, which takes longer to find. */
  readonly openAt: (nowMs: number) => OpenFreeze | null;
}

/** After so many windows in a row the end of them is not searched for any longer. */
const MOST_WINDOWS = 10;

/** Reads the windows once. A `to` that is a bare date is open through its last moment, UTC. */
export async function watchFreeze(
  windows: readonly FreezeWindow[],
  timezone: string,
  loadCron: PlanningDeps['loadCron'],
): Promise<FreezeWatch> {
  const cronTicked = windows.some((window) => 'cron' in window) ? await loadCron() : () => false;
  const isOpen = (window: FreezeWindow, nowMs: number): boolean =>
    'cron' in window
      ? cronTicked(window.cron, timezone, nowMs - window.forMs, nowMs)
      : nowMs >= startOf(window.from) && nowMs < endOf(window.to);
  const firstOpen = (nowMs: number): FreezeWindow | undefined => windows.find((each) => isOpen(each, nowMs));
  const wordsAt = (nowMs: number): string | null => {
    const window = firstOpen(nowMs);
    if (window === undefined) return null;
    return 'cron' in window ? `cron ${window.cron}` : `${window.from} to ${window.to}`;
  };
  const lastTickMs = ({ cron, forMs }: CronWindow, nowMs: number): number => {
    let [before, from] = [nowMs - forMs, nowMs];
    while (from - before > 1) {
      const middle = Math.floor((before + from) / 2);
      if (cronTicked(cron, timezone, middle, nowMs)) before = middle;
      else from = middle;
    }
    return from;
  };
  const endAfter = (nowMs: number): number | null => {
    let endMs = nowMs;
    for (let count = 0; count < MOST_WINDOWS; count += 1) {
      const window = firstOpen(endMs);
      if (window === undefined) return endMs;
      endMs = 'cron' in window ? lastTickMs(window, endMs) + window.forMs : endOf(window.to);
    }
    return null;
  };
  return {
    wordsAt,
    openAt(nowMs) {
      const window = wordsAt(nowMs);
      return window === null ? null : { window, untilMs: endAfter(nowMs) };
    },
  };
}

type CronWindow = Extract<FreezeWindow, { readonly cron: string }>;

function isDate(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(text);
}

/** A time without a zone is UTC, as everything is that has none. */
function instant(text: string): number {
  return Date.parse(isDate(text) || /(Z|[+-]\d{2}:?\d{2})$/i.test(text) ? text : `${text}Z`);
}

function startOf(text: string): number {
  return instant(text);
}

function endOf(text: string): number {
  return isDate(text) ? instant(text) + DAY_MS : instant(text);
}
