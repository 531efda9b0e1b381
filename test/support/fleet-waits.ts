// How long the accounts of a fleet waited for their runs.
import type { Outage } from './disturbances.ts';
import type { Fleet } from './fleet.ts';
import { type FleetRun, iso } from './fleet-runs.ts';
import { groupBy } from './grouping.ts';
import { quantile } from './vitals.ts';

export interface Gap {
  readonly account: string;
  readonly fromMs: number;
  readonly toMs: number;
  /** Without outages. */
  readonly ms: number;
}

const FAILURES = new Set(['failed', 'partial', 'blocked']);

/** The times from each start of an account to its next, up to the end; not those in which it waits after failures. */
export function gapsOf(
  fleet: Fleet,
  runs: readonly FleetRun[],
  outages: readonly Outage[],
  endMs: number,
): Gap[] {
  const starts = groupBy(runs, ({ account }) => account);
  return fleet.accounts.flatMap((account) => {
    const ofAccount = starts.get(account) ?? [];
    const of = outages.filter(({ accounts }) => accounts === null || accounts.includes(account));
    return ofAccount.flatMap(({ startedMs: fromMs, status }, index) => {
      const toMs = ofAccount[index + 1]?.startedMs ?? endMs;
      if (FAILURES.has(status) && FAILURES.has(ofAccount[index - 1]?.status ?? '')) return [];
      return [{ account, fromMs, toMs, ms: toMs - fromMs - lostMs(of, fromMs, toMs) }];
    });
  });
}

/** The time of the union of the outages between two moments. */
function lostMs(outages: readonly Outage[], fromMs: number, toMs: number): number {
  let lost = 0;
  let coveredMs = fromMs;
  for (const outage of outages.toSorted((a, b) => a.fromMs - b.fromMs)) {
    const beginMs = Math.max(coveredMs, outage.fromMs);
    const endMs = Math.min(toMs, outage.toMs);
    lost += Math.max(0, endMs - beginMs);
    coveredMs = Math.max(coveredMs, endMs);
  }
  return lost;
}

/** How late a run may be beyond what is computed. */
const SLACK_MS = 4000;

/** The quarter of the waits that a disturbance may make longer is not the usual delay of this machine. */
const USUAL = 0.75;

/** How much longer than their interval accounts usually waited: 0 on a machine that starts their runs in time. */
function usualDelayMs(gaps: readonly Gap[], everyMs: number): number {
  const usualMs = quantile(
    gaps.map(({ ms }) => ms),
    USUAL,
  );
  return Number.isNaN(usualMs) ? 0 : Math.max(0, usualMs - everyMs);
}

/**
 * Accounts that waited for longer than a takeover and one interval. A machine under load starts the runs of all accounts
 * late: an account may wait so much longer as the others usually waited at the same time, once for the run that was lost
 * and once for the next.
 */
export function longWaits(gaps: readonly Gap[], takeoverMs: number, everyMs: number): string[] {
  const limitMs = takeoverMs + everyMs + SLACK_MS;
  return gaps
    .filter(({ ms }) => ms > limitMs)
    .flatMap((gap) => {
      const others = gaps.filter(
        ({ account, fromMs, toMs }) => account !== gap.account && fromMs < gap.toMs && toMs > gap.fromMs,
      );
      const mostMs = limitMs + 2 * usualDelayMs(others, everyMs);
      return gap.ms <= mostMs
        ? []
        : [`${gap.account}: no run for ${gap.ms} ms after ${iso(gap.fromMs)}, limit ${mostMs} ms`];
    });
}

/**
 * Times in which no run of any account started, although all were due: longer than a takeover and one interval, and
 * than the accounts usually waited during the complete test.
 */
export function silences(
  runs: readonly FleetRun[],
  { gaps, outages }: { readonly gaps: readonly Gap[]; readonly outages: readonly Outage[] },
  takeoverMs: number,
  everyMs: number,
): string[] {
  const all = outages.filter(({ accounts }) => accounts === null);
  const limitMs = takeoverMs + everyMs + SLACK_MS + 2 * usualDelayMs(gaps, everyMs);
  return runs.flatMap(({ startedMs }, index) => {
    const nextMs = runs[index + 1]?.startedMs ?? startedMs;
    const ms = nextMs - startedMs - lostMs(all, startedMs, nextMs);
    return ms > limitMs
      ? [`no run of any account for ${ms} ms after ${iso(startedMs)}, limit ${limitMs} ms`]
      : [];
  });
}
