// What must hold after a fleet was disturbed, and the figures of how it went. Each breach is one sentence.
import type { Disturbances } from './disturbances.ts';
import { type Fleet, tokenOf } from './fleet.ts';
import { type FleetRun, iso, runsOf } from './fleet-runs.ts';
import { gapsOf, longWaits, silences } from './fleet-waits.ts';
import { countBy, groupBy } from './grouping.ts';
import type { ProxiedRequest } from './recording-proxy.ts';
import { table } from './table.ts';
import { quantile } from './vitals.ts';

/** A check and what broke it. */
type Breaches = Readonly<Record<string, readonly string[]>>;

function byAccount<T extends { readonly account: string }>(items: readonly T[]): Map<string, T[]> {
  return groupBy(items, ({ account }) => account);
}

/** A process that was suspended between its last commit and a request sends this request when it is resumed. */
const AFTER_RESUMING_MS = 1000;
const MOST_AFTER_RESUMING = 8;

interface Overlaps {
  readonly breaches: readonly string[];
  /** Requests that belong to a run in which their process was suspended, and left it after it was resumed. */
  readonly afterResuming: number;
}

/** Requests of one daemon for an account while a run of another one was in progress. */
function overlaps(fleet: Fleet, runs: readonly FleetRun[], { suspensions }: Disturbances): Overlaps {
  const places = new Map(fleet.members.flatMap(({ pids, place }) => pids.map((pid) => [pid, place])));
  const requests = fleet.members.map(({ proxy }) => groupBy(proxy.requests, ({ token }) => token));
  const breaches: string[] = [];
  const resumed = new Map<string, number>();

  /** The run in which the process was suspended that sent this request right after it was resumed. */
  function suspendedRun(place: number, account: string, atMs: number): string | undefined {
    const suspension = suspensions.find(
      ({ place: of, toMs }) => of === place && atMs >= toMs && atMs < toMs + AFTER_RESUMING_MS,
    );
    if (suspension === undefined) return undefined;
    return runs.find(
      (run) =>
        run.account === account &&
        run.status === 'interrupted' &&
        places.get(run.holder_pid) === place &&
        run.startedMs <= suspension.fromMs &&
        (run.finishedMs ?? Infinity) >= suspension.fromMs,
    )?.id;
  }

  function isAllowed({ method, atMs }: ProxiedRequest, account: string, place: number): boolean {
    const lost = suspendedRun(place, account, atMs);
    if (lost === undefined) return false;
    const earlier = resumed.get(lost) ?? 0;
    resumed.set(lost, earlier + 1);
    // Without replicas, a process notices at its next commit that its lock is lost. It may read until then.
    return (method !== 'GET' || fleet.cluster === null) && earlier < MOST_AFTER_RESUMING;
  }

  for (const run of runs) {
    if (run.status === 'interrupted') continue;
    const owner = places.get(run.holder_pid);
    for (const [place, ofPlace] of requests.entries()) {
      if (place === owner) continue;
      for (const request of within(ofPlace.get(tokenOf(run.account)) ?? [], run)) {
        if (!isAllowed(request, run.account, place))
          breaches.push(
            `${run.account}: ${request.method} of daemon ${place} at ${iso(request.atMs)} in the run ${run.id} of daemon ${owner}`,
          );
      }
    }
  }
  return { breaches, afterResuming: [...resumed.values()].reduce((sum, n) => sum + n, 0) };
}

function within(requests: readonly ProxiedRequest[], { startedMs, finishedMs }: FleetRun): ProxiedRequest[] {
  return requests.filter(({ atMs }) => atMs > startedMs && atMs < (finishedMs ?? Infinity));
}

/** By the journal: runs that started before the one before them had ended. */
function overlappingRuns(runs: readonly FleetRun[]): string[] {
  return [...byAccount(runs).values()].flatMap((ofAccount) =>
    ofAccount.flatMap((run, index) => {
      const before = ofAccount[index - 1];
      return before !== undefined && (before.finishedMs ?? Infinity) > run.startedMs
        ? [`${run.account}: ${described(run)} started during ${described(before)}`]
        : [];
    }),
  );
}

function described({ id, trigger, status, holder_pid: pid, startedMs }: FleetRun): string {
  return `run ${id} (${trigger}, ${status}, process ${pid}, ${iso(startedMs)})`;
}

/** Several scheduled runs of an account between two of its ticks. */
function repeatedTicks(runs: readonly FleetRun[], everyMs: number): string[] {
  const scheduled = runs.filter(({ trigger }) => trigger === 'schedule' || trigger === 'catch_up');
  const ticks = groupBy(scheduled, ({ account, startedMs }) => `${account} ${tickOf(startedMs, everyMs)}`);
  return [...ticks.values()]
    .filter((ofTick) => ofTick.length > 1)
    .map((ofTick) => `${ofTick[0]?.account}: ${ofTick.map(described).join(', ')}`);
}

function tickOf(atMs: number, everyMs: number): number {
  return Math.floor(atMs / everyMs);
}

/** Names that exist twice, and creates and deletes of a name that took effect twice. */
function repeatedWrites(fleet: Fleet): { readonly duplicates: string[]; readonly twice: string[] } {
  const duplicates = fleet.accounts.flatMap((account) =>
    repeated(fleet.on.sandbox.state(account).skills.map(({ name }) => `${account}: ${name}`)),
  );
  const writes = fleet.effects.map(({ account, method, name }) => `${account}: ${method} ${name}`);
  return { duplicates, twice: repeated(writes) };
}

function repeated(items: readonly string[]): string[] {
  return [...groupBy(items, (item) => item)].flatMap(([item, all]) => (all.length > 1 ? [item] : []));
}

/** Rows of processes that have ended. */
async function staleRows(fleet: Fleet): Promise<string[]> {
  const runs = await fleet.rows<object>(`select id, account, status from runs where status = 'running'`);
  const operations = await fleet.rows<object>(
    `select run_id, seq, name, status from operations where status in ('sent', 'pending')`,
  );
  const leases = await fleet.rows<object>('select name, lease_run from accounts where lease_run is not null');
  return Object.entries({ runs, operations, leases }).flatMap(([table, rows]) =>
    rows.map((row) => `${table}: ${JSON.stringify(row)}`),
  );
}

/** Accounts whose entries are not those of their files. */
function mismatches({ on, accounts, desired }: Fleet): string[] {
  return accounts.flatMap((account) => {
    const [is, wanted] = [on.names(account).skills.join(), desired.get(account)?.toSorted().join()];
    return is === wanted ? [] : [`${account}: ${is} instead of ${wanted}`];
  });
}

/** Runs that wrote with an older file of an account after one with a newer file. A run with uncommitted files is not judged. */
function olderAfterNewer({ commits }: Fleet, runs: readonly FleetRun[]): string[] {
  const order = new Map(commits.map(({ id }, index) => [id, index]));
  const changes = groupBy(commits.keys(), (index) => commits[index]?.account ?? '');
  const breaches: string[] = [];
  for (const [account, ofAccount] of byAccount(runs)) {
    let newest = -1;
    for (const run of ofAccount) {
      const commit = order.get(run.config_commit ?? '') ?? -1;
      if (run.config_dirty !== 0 || commit === -1) continue;
      const version = changes.get(account)?.findLast((change) => change <= commit) ?? 0;
      if (version < newest && run.created + run.deleted > 0)
        breaches.push(`${account}: ${described(run)} with its file of commit ${version}, after ${newest}`);
      newest = Math.max(newest, version);
    }
  }
  return breaches;
}

/** How long after its tick a scheduled run started, when that was before the next tick. */
function delaysOf(runs: readonly FleetRun[], everyMs: number): number[] {
  return runs.filter(({ trigger }) => trigger === 'schedule').map(({ startedMs }) => startedMs % everyMs);
}

interface FleetReport {
  /** The checks that something breaks; empty when everything holds. */
  readonly breaches: Breaches;
  /** A short table of how it went. */
  readonly figures: string;
}

export interface Course {
  /** When the changes and disturbances ended. */
  readonly endMs: number;
  /** How long the accounts of a lost process may wait for another one. */
  readonly takeoverMs: number;
}

/** Evaluates every check. The daemons must have been stopped. */
export async function reportOf(
  fleet: Fleet,
  log: Disturbances,
  { endMs, takeoverMs }: Course,
): Promise<FleetReport> {
  const everyMs = fleet.options.everySeconds * 1000;
  const runs = await runsOf(fleet);
  const until = runs.filter(({ startedMs }) => startedMs < endMs);
  const gaps = gapsOf(fleet, until, log.outages, endMs);
  const byRequests = overlaps(fleet, runs, log);
  const { duplicates, twice } = repeatedWrites(fleet);
  const checks: Breaches = {
    'requests in the run of another daemon': byRequests.breaches,
    'overlapping runs': overlappingRuns(runs),
    'entries that exist twice': duplicates,
    'writes that took effect twice': twice,
    'ticks with several runs': repeatedTicks(runs, everyMs),
    'rows of ended processes': await staleRows(fleet),
    'accounts that differ from their files': mismatches(fleet),
    'writes by an older file': olderAfterNewer(fleet, runs),
    'accounts without a run for too long': longWaits(gaps, takeoverMs, everyMs),
    'times without any run': silences(until, { gaps, outages: log.outages }, takeoverMs, everyMs),
  };
  const waits = gaps.map(({ ms }) => ms);
  const delays = delaysOf(runs, everyMs);
  const statuses = [...countBy(runs, ({ status }) => status)].map(([status, n]) => `${n} ${status}`);
  const figures = table(
    ['figure', 'value'],
    [
      ...[...log.counts].map(([what, n]) => [what, String(n)]),
      ['runs', `${runs.length}: ${statuses.join(', ')}`],
      ['creates and deletes', String(fleet.effects.length)],
      ['requests sent after a process was resumed', String(byRequests.afterResuming)],
      ['start after the tick, median and worst', `${ms(delays, 0.5)}, ${ms(delays, 1)}`],
      ['start to next start, median and worst', `${ms(waits, 0.5)}, ${ms(waits, 1)}`],
    ],
  );
  return {
    breaches: Object.fromEntries(Object.entries(checks).filter(([, found]) => found.length > 0)),
    figures,
  };
}

function ms(values: readonly number[], part: number): string {
  return `${Math.round(quantile(values, part))} ms`;
}
