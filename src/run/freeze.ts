// Whether a freeze window is open, in which nothing is written.
import type { FreezeWindow } from '../core/catalog.ts';
import { DAY_MS } from '../core/durations-and-sizes.ts';
import type { OpenFreeze } from '../core/plan.ts';
import type { PlanningDeps } from './request.ts';

/** Which window is open at a moment, in epoch milliseconds. */
export interface FreezeWatch {
  /** A description of the first window that is open, or null. */
  readonly describeAt: (nowMs: number) => string | null;
  /** The same with the end of the window, which takes longer to find. */
  readonly openAt: (nowMs: number) => OpenFreeze | null;
}

/** After this many windows in a row the search for their end stops. */
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
      : nowMs >= instant(window.from) && nowMs < endOf(window.to);
  const firstOpen = (nowMs: number): FreezeWindow | undefined => windows.find((each) => isOpen(each, nowMs));
  const describeAt = (nowMs: number): string | null => {
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
    describeAt,
    openAt(nowMs) {
      const window = describeAt(nowMs);
      return window === null ? null : { window, untilMs: endAfter(nowMs) };
    },
  };
}

type CronWindow = Extract<FreezeWindow, { readonly cron: string }>;

function isDate(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(text);
}

/** A time without a zone is UTC. */
function instant(text: string): number {
  return Date.parse(isDate(text) || /(Z|[+-]\d{2}:?\d{2})$/i.test(text) ? text : `${text}Z`);
}

function endOf(text: string): number {
  return isDate(text) ? instant(text) + DAY_MS : instant(text);
}
