// Whether a freeze window is open (contract, section 4): windows in which nothing is written.
import type { FreezeWindow } from '../core/catalog.ts';
import { DAY_MS } from '../core/history.ts';
import type { PlanningDeps } from './request.ts';

/** The first open window in words, or null. A `to` that is a bare date is open through its last moment, UTC. */
export async function openFreezeWindow(
  windows: readonly FreezeWindow[],
  timezone: string,
  nowMs: number,
  cronTicked: PlanningDeps['cronTicked'],
): Promise<string | null> {
  for (const window of windows) {
    if ('cron' in window) {
      if (await cronTicked(window.cron, timezone, nowMs - window.forMs, nowMs)) return `cron ${window.cron}`;
    } else if (nowMs >= startOf(window.from) && nowMs < endOf(window.to)) {
      return `${window.from} to ${window.to}`;
    }
  }
  return null;
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
