// Whether a freeze window is open (contract, section 4): windows in which nothing is written.
import type { FreezeWindow } from '../core/catalog.ts';
import { DAY_MS } from '../core/history.ts';
import type { PlanningDeps } from './request.ts';

/** Says at any moment (epoch ms) which window is open, the first one in words, or null. */
export type FreezeWatch = (nowMs: number) => string | null;

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
  return (nowMs) => {
    const window = windows.find((each) => isOpen(each, nowMs));
    if (window === undefined) return null;
    return 'cron' in window ? `cron ${window.cron}` : `${window.from} to ${window.to}`;
  };
}

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
