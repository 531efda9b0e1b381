// Merges quiet runs with the same result into the first of them. Without this, a daemon that runs every five minutes would
// store two thousand equal runs a week. A run that changed something, or whose result differs, is never removed.
import { sql } from 'kysely';
import type { RunMode, RunStatus } from '../core/journal.ts';
import type { Database } from './tables.ts';
import { jsonRows } from './json-rows.ts';
import { immediately } from './transactions.ts';
import {
  PAGE,
  ROWS_AT_A_TIME,
  deleteLargeOperations,
  inRanges,
  inSteps,
  pages,
} from './small-transactions.ts';
import { toIso, toMs } from './times.ts';

/** Runs of the last hour are kept. Of older runs with the same result, one a day is kept. */
const COMPLETE_MS = 3_600_000;

/** The fields of a run that decide about compaction. */
export interface CompactableRun {
  readonly id: string;
  readonly startedAtMs: number;
  readonly status: RunStatus;
  readonly mode: RunMode;
  /** Whether the run wrote nothing and nothing failed. */
  readonly isQuiet: boolean;
  /** Equal for runs with the same configuration, the same lists and the same result. */
  readonly finding: string;
}

/**
 * Decides which runs of one account are merged, each with the earlier run that it repeats. `runs` are in the order of time.
 * The newest `keepAtLeast` and those in `keep` are kept.
 */
export function planMerges(
  runs: readonly CompactableRun[],
  options: { readonly nowMs: number; readonly keepAtLeast: number; readonly keep: ReadonlySet<string> },
): Merge[] {
  const merges: Merge[] = [];
  const newest = runs.length - Math.max(1, options.keepAtLeast);
  let first: CompactableRun | null = null;
  for (const [index, run] of runs.entries()) {
    const repeats =
      first !== null &&
      index < newest &&
      run.isQuiet &&
      !options.keep.has(run.id) &&
      run.finding === first.finding &&
      options.nowMs - run.startedAtMs > COMPLETE_MS &&
      dayOf(run.startedAtMs) === dayOf(first.startedAtMs);
    if (repeats && first !== null) merges.push({ id: run.id, into: first.id });
    else first = run.isQuiet ? run : null;
  }
  return merges;
}

/** The day (UTC) of a run; only runs of one day are merged. */
function dayOf(startedAtMs: number): string {
  return toIso(startedAtMs).slice(0, 10);
}

/** Merges the quiet runs of one account. Resolves with the number of deleted runs. */
export async function compactRuns(
  db: Database,
  account: string,
  options: { readonly nowMs: number; readonly keepAtLeast: number },
): Promise<number> {
  const runs = await compactableRuns(db, account);
  const merges = planMerges(runs, { ...options, keep: await keptRuns(db, account) });
  return await inSteps(merges, async (some) => {
    const possible = await validMerges(db, some);
    await deleteLargeOperations(
      db,
      possible.map(({ id }) => id),
    );
    return await immediately(db, account, async (connection) =>
      mergeRuns(connection, await validMerges(connection, possible)),
    );
  });
}

interface Merge {
  readonly id: string;
  readonly into: string;
}

/**
 * The merges whose two runs still exist and whose first run no account refers to. Since the runs were read, another process
 * may have merged or pruned some of them, or a renamed account may have adopted them.
 */
async function validMerges(db: Database, merges: readonly Merge[]): Promise<readonly Merge[]> {
  const pairs = jsonRows(merges.map(({ id, into }) => [id, into]));
  const { rows } = await sql<Merge>`
    select runs.id, targets.id as "into"
    from ${pairs} join runs on runs.id = value ->> 0 join runs as targets on targets.id = value ->> 1
    where not exists (
      select 1 from accounts where name = runs.account and runs.id in (last_run_id, last_good_run, pending_run))`.execute(
    db,
  );
  return rows;
}

async function mergeRuns(connection: Database, merges: readonly Merge[]): Promise<number> {
  const rows = jsonRows(merges.map(({ id, into }) => [id, into]));
  await sql`
    with merges as materialized (
      select value ->> 1 as target, sum(1 + runs.folded) as runs, max(coalesce(runs.folded_until, runs.finished_at)) as until
      from ${rows} join runs on runs.id = value ->> 0 group by 1)
    update runs set folded = folded + merges.runs, 
      folded_until = case when folded_until > merges.until then folded_until else merges.until end
    from merges where runs.id = merges.target`.execute(connection);
  const { numAffectedRows } = await sql`
    delete from runs where id in (select value ->> 0 from ${rows})`.execute(connection);
  return Number(numAffectedRows ?? 0);
}

interface Row {
  readonly id: string;
  readonly started_at: string;
  readonly status: RunStatus;
  readonly mode: RunMode;
  readonly quiet: number;
  /** Whether the run has more operations than the query reads. */
  readonly large: number;
}

/** All runs of an account in the order of time, read page by page. */
async function compactableRuns(db: Database, account: string): Promise<CompactableRun[]> {
  const runs: CompactableRun[] = [];
  const read = (last: Pick<Row, 'started_at' | 'id'>) =>
    sql<Row>`
      select id, started_at, status, mode,
        case when status in ('converged', 'held', 'planned') and created + deleted + failed = 0 and error is null
          and finished_at is not null
          and not exists (
            select 1 from operations
            where run_id = runs.id and seq <= ${ROWS_AT_A_TIME} and operations.status != 'held')
          then 1 else 0 end as quiet,
        case when exists (select 1 from operations where run_id = runs.id and seq > ${ROWS_AT_A_TIME})
          then 1 else 0 end as large,
        remote_account_id, config_digest, config_commit, config_dirty, plan_digest, plan_body, held, kept, warnings,
        (select string_agg(digest, ' ' order by phase, kind) from snapshots where run_id = runs.id) as digests
      from (
        -- The page is chosen first. Otherwise PostgreSQL looks for the operations of all runs.
        select * from runs where account = ${account} and (started_at, id) > (${last.started_at}, ${last.id})
        order by started_at, id limit ${PAGE}) as runs
      order by started_at, id`.execute(db);
  for await (const rows of pages({ started_at: '', id: '' }, read)) {
    for (const { id, started_at, quiet, large, ...found } of rows) {
      const { status, mode } = found;
      const isQuiet = quiet === 1 && (large === 0 || (await holdsAll(db, id)));
      runs.push({
        id,
        startedAtMs: toMs(started_at),
        status,
        mode,
        isQuiet,
        // The columns are always in the order of the query.
        finding: JSON.stringify(found),
      });
    }
  }
  return runs;
}

/** Whether all operations of a large run are held. */
async function holdsAll(db: Database, runId: string): Promise<boolean> {
  let others = 0;
  await inRanges(db, runId, async (range) => {
    const { rows } = await sql`
      select 1 from operations where run_id = ${runId} and ${range} and status != 'held' limit 1`.execute(db);
    others += rows.length;
  });
  return others === 0;
}

/** The runs to which the row of the account refers. */
async function keptRuns(db: Database, account: string): Promise<Set<string>> {
  const row = await db
    .selectFrom('accounts')
    .select(['last_run_id', 'last_good_run', 'pending_run'])
    .where('name', '=', account)
    .executeTakeFirst();
  return new Set(
    [row?.last_run_id, row?.last_good_run, row?.pending_run].filter((id) => typeof id === 'string'),
  );
}
