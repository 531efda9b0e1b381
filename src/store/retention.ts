// Deletes old runs, snapshots and entries, but never the last good snapshot of an account or rows that a rule needs.
import { setImmediate } from 'node:timers/promises';
import { type RawBuilder, sql } from 'kysely';
import { DAY_MS } from '../core/durations-and-sizes.ts';
import { jsonList, toIso, toMs } from './row-values.ts';
import type { Database, Tables } from './tables.ts';
import { immediately } from './engine.ts';

/** Some rules read the operations of the last 24 hours, so a shorter retention would disable them. */
const SHORTEST_MS = 2 * DAY_MS;

/** Of older runs that found and changed nothing, one a day is kept. */
const COMPLETE_MS = 7 * DAY_MS;

/** The rows that one transaction deletes: about 10 ms. */
const ROWS = 2000;
/** The accounts that one statement looks at. */
const ACCOUNTS = 20;
/** Rows with dependent rows, or with large values. */
const LARGE_ROWS = 100;

/**
 * Deletes what is older than the settings allow, and runs that found nothing new. Works in small transactions, so that other
 * work and other writers wait only a few milliseconds. What changes meanwhile is judged again by each of them.
 */
export async function prune(db: Database, retentionMs: number, nowMs: number): Promise<void> {
  const before = toIso(nowMs - Math.max(retentionMs, SHORTEST_MS));
  const accounts = await db.selectFrom('accounts').select('name').execute();
  for (let at = 0; at < accounts.length; at += ACCOUNTS) {
    const names = jsonList(accounts.slice(at, at + ACCOUNTS).map(({ name }) => name));
    await deleteRows(db, 'snapshots', oldSnapshot(names, before));
    await deleteRows(db, 'runs', repeatedRun(names, toIso(nowMs - COMPLETE_MS)));
    const runs = oldRun(names, before);
    // Those of a large run would otherwise be deleted with it in one long transaction.
    await deleteRows(db, 'operations', sql`run_id in (select id from runs where ${runs})`);
    await deleteRows(db, 'runs', runs);
    await deleteRows(db, 'entries', oldEntry(names, before));
  }
  for (const table of ['snapshot_bodies', 'plan_bodies'] as const) {
    for (const digit of '0123456789abcdef') await deleteRows(db, table, unusedBody(table, digit));
  }
  await deleteRows(db, 'notices', sql`created_at < ${before}`);
  await deleteRows(db, 'notice_states', sql`as_of < ${before}`);
  await deleteRows(db, 'operator_actions', sql`at < ${before}`);
}

/** When the newest run ended; runs of the future, which a wrong clock left behind, do not count. null without any. */
export async function newestEndMs(db: Database, nowMs: number): Promise<number | null> {
  const now = toIso(nowMs);
  const run = await db
    .selectFrom('runs')
    .select('finished_at')
    .where('started_at', '<=', now)
    .where('finished_at', '<=', now)
    .orderBy('started_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  return typeof run?.finished_at === 'string' ? toMs(run.finished_at) : null;
}

/** Deletes the rows that meet a condition, some at a time. */
async function deleteRows(
  db: Database,
  table: keyof typeof KEYS,
  condition: RawBuilder<unknown>,
): Promise<void> {
  const [name, key] = [sql.table(table), sql.raw(KEYS[table])];
  const most = ['runs', 'snapshot_bodies', 'plan_bodies'].includes(table) ? LARGE_ROWS : ROWS;
  const found = sql`select ${key} from ${name} where ${condition}`;
  for (;;) {
    await setImmediate();
    // Others need not wait where there is nothing to delete.
    const { rows } = await sql`${found} limit 1`.execute(db);
    if (rows.length === 0) return;
    await immediately(db, 'pruning', (connection) =>
      sql`delete from ${name} where (${key}) in (${found} limit ${most})`.execute(connection),
    );
  }
}

const KEYS = {
  runs: 'id',
  snapshots: 'id',
  operations: 'run_id, seq',
  entries: 'account, remote_account_id, kind, remote_id',
  snapshot_bodies: 'digest',
  plan_bodies: 'digest',
  notices: 'seq',
  notice_states: 'target, account',
  operator_actions: 'seq',
} as const satisfies Partial<Record<keyof Tables, string>>;

/** The runs to which the row of an account refers: the latest, the one with the last good snapshot, a plan that waits. */
const IS_NEEDED = sql`exists (
  select 1 from accounts where name = runs.account and runs.id in (last_run_id, last_good_run, pending_run))`;

/** Of the runs of an account and a day that found and changed nothing, all but the first. */
function repeatedRun(accounts: RawBuilder<string>, before: string): RawBuilder<unknown> {
  return sql`not ${IS_NEEDED} and id in (
    select id from (
      select id, row_number() over (partition by account, substr(started_at, 1, 10) order by started_at, id) as place
      from runs where account in ${accounts} and started_at < ${before}
        and status in ('converged', 'planned') and created + deleted + failed + held = 0
        and planned_creates + planned_deletes = 0 and error_code is null
        and not exists (select 1 from operations where run_id = runs.id)
      ) as quiet
    where place > 1)`;
}

function oldSnapshot(accounts: RawBuilder<string>, before: string): RawBuilder<unknown> {
  return sql`taken_at < ${before} and run_id in (
      select id from runs where account in ${accounts} and started_at < ${before})
    and not exists (select 1 from accounts where name = snapshots.account and last_good_run = run_id)`;
}

/** Not those that still have snapshots, that are running, or that have an unknown outcome. */
function oldRun(accounts: RawBuilder<string>, before: string): RawBuilder<unknown> {
  return sql`account in ${accounts} and started_at < ${before} and status != 'running' and not ${IS_NEEDED}
    and not exists (select 1 from snapshots where run_id = runs.id)
    and not exists (
      select 1 from operations
      where run_id = runs.id and operations.status in ('sent', 'unknown') and settled_by is null)`;
}

/**
 * Entries that others created and that disappeared long ago; a service that lists new ids at each reading would fill the
 * store. Only those that the last good lists did not show. Entries of a former remote account are kept, because they
 * identify its token. While the outcome of a create is unknown, all entries are kept, because every earlier id is needed to
 * find the new one.
 */
function oldEntry(accounts: RawBuilder<string>, before: string): RawBuilder<unknown> {
  return sql`account in ${accounts} and last_seen_run < ${firstRunIdAt(toMs(before))}
    and created_by_run is null and adopted_by_run is null and requested_name is null and deleted_by_run is null
    and released_as is null
    and exists (
      select 1 from accounts where name = entries.account and last_seen_run < last_good_run
        and entries.remote_account_id in ('', coalesce(accounts.remote_account_id, '')))
    and not exists (
      select 1 from operations join runs on runs.id = operations.run_id
      where operations.status in ('sent', 'unknown') and settled_by is null and runs.account = entries.account)`;
}

/** The smallest id of a run that began at this moment. Ids are UUIDv7, which begin with the time. */
function firstRunIdAt(epochMs: number): string {
  const time = Math.max(0, Math.trunc(epochMs)).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`;
}

/** The bodies to which no row refers, among those whose digests begin with a digit: a store may have very many. */
function unusedBody(table: 'snapshot_bodies' | 'plan_bodies', digit: string): RawBuilder<unknown> {
  const users =
    table === 'plan_bodies'
      ? sql`select 1 from runs where plan_body = plan_bodies.digest`
      : sql`select 1 from snapshots where digest = snapshot_bodies.digest`;
  return sql`digest >= ${`sha256:${digit}`} and digest < ${`sha256:${digit}g`} and not exists (${users})`;
}
