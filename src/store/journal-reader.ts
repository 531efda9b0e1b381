// Reads the journal for commands, pages and reports: lists of runs, and one run with its plan and operations.
import { type Selectable, sql } from 'kysely';
import type {
  AccountRecord,
  DailyCount,
  JournalReader,
  RunDetail,
  RunMark,
} from '../core/ports/journal-reader.ts';
import { toRemaining, toState } from './account-state.ts';
import { claimantOf } from './remote-accounts.ts';
import { readEarlierHolders, snapshotReader } from './snapshot-reader.ts';
import type { Database, Tables } from './tables.ts';
import { isOf, jsonList, jsonRows, toIso, toMs } from './row-values.ts';
import {
  readProgress,
  readTallies,
  findRun,
  LISTED,
  OPERATION_COLUMNS,
  toOperation,
  toRun,
  toRuns,
  warningsOf,
} from './run-rows.ts';
import { readPlan } from './compressed-json.ts';
import { readPause } from './stored-settings.ts';

export function journalReader(db: Database): JournalReader {
  return {
    ...snapshotReader(db),

    run: (id) => readRun(db, id),

    async runReport(id) {
      const detail = await readRun(db, id);
      const earlierHolders = detail === null ? [] : await readEarlierHolders(db, detail);
      return detail === null || earlierHolders.length === 0 ? detail : { ...detail, earlierHolders };
    },

    async runs({ account, limit, sinceMs, status, after, hasDeletes, changed }) {
      let query = db
        .selectFrom('runs')
        .select(LISTED)
        .orderBy('started_at', 'desc')
        .orderBy('id', 'desc')
        .limit(limit);
      if (account !== undefined) query = query.where(isOf('account', account));
      if (status !== undefined) query = query.where('status', '=', status);
      if (hasDeletes === true) query = query.where('deleted', '>', 0);
      if (changed === true) query = query.where(sql<boolean>`created + deleted > 0`);
      if (sinceMs !== undefined) query = query.where('started_at', '>=', toIso(sinceMs));
      if (after !== undefined) {
        const last = sql`select started_at, id from runs where id = ${after}`;
        query = query.where(sql<boolean>`(started_at, id) < (${last})`);
      }
      return await toRuns(db, await query.execute());
    },

    runTallies: (ids) => readTallies(db, ids),

    async latestRuns(accounts, limit) {
      // Goes from each run to the one before it, and so reads only the rows that it returns: there is no common form of a
      // limit for each account that PostgreSQL answers without reading all runs.
      const names = jsonRows([...new Set(accounts)].map((name) => ({ name })));
      const { rows } = await sql<RunMark>`
        with recursive latest (account, id, status, started_at, written, place) as (
          select runs.account, runs.id, runs.status, runs.started_at, runs.created + runs.deleted, 1
          from ${names} as named join runs on runs.id = (
            select id from runs as newest where account = named.value ->> 'name' order by started_at desc, id desc limit 1)
          union all
          select runs.account, runs.id, runs.status, runs.started_at, runs.created + runs.deleted, latest.place + 1
          from latest join runs on runs.id = (
            select id from runs as older
            where account = latest.account and (started_at, id) < (latest.started_at, latest.id)
            order by started_at desc, id desc limit 1)
          where latest.place < ${limit})
        select id, account, status, started_at as "startedAt", written from latest
        order by account, started_at desc, id desc`.execute(db);
      return rows;
    },

    async runsBeginning(prefix, limit) {
      if (!/^[0-9a-f-]{1,36}$/.test(prefix)) return [];
      const rows = await db
        .selectFrom('runs')
        .select(LISTED)
        .where('id', '>=', prefix)
        .where('id', '<', `${prefix}g`)
        .orderBy('id', 'desc')
        .limit(limit)
        .execute();
      return rows.map(toRun);
    },

    async deletesNamed(name) {
      return await db
        .selectFrom('operations')
        .innerJoin('runs', 'runs.id', 'operations.run_id')
        .select(['run_id as runId', 'seq', 'kind', 'account', 'runs.started_at as startedAt'])
        .where('action', '=', 'delete')
        .where('attempts', '>', 0)
        .where('operations.status', 'in', ['done', 'unknown', 'sent'])
        // The journal has names as the service lists them.
        .where('name', 'in', [...new Set([name, name.normalize('NFC'), name.normalize('NFD')])])
        .orderBy('runs.started_at', 'desc')
        .orderBy('seq')
        .execute();
    },

    runProgress: (runId) => readProgress(db, runId),

    async accounts(names) {
      let query = db.selectFrom('accounts').selectAll().orderBy('name');
      if (names !== undefined) query = query.where('name', 'in', jsonList([names].flat()));
      return await accountRecords(db, await query.execute());
    },

    async operatorActions({ limit, account, sinceMs, before, after }) {
      let query = db.selectFrom('operator_actions').selectAll().orderBy('seq', 'desc').limit(limit);
      if (account !== undefined) query = query.where(isOf('account', account));
      if (sinceMs !== undefined) query = query.where('at', '>=', toIso(sinceMs));
      if (before !== undefined) query = query.where('seq', '<', before);
      if (after !== undefined) query = query.where('seq', '>', after);
      return await query.execute();
    },

    pauseOfAll: (nowMs) => readPause(db, nowMs),

    claimant: (claim) => claimantOf(db, claim),

    async entryCounts(runId) {
      const rows = await db
        .selectFrom('snapshots')
        .select(['kind', 'entries'])
        .where('run_id', '=', runId)
        .orderBy('id')
        .execute();
      // The rows of the phase `after` follow those of `before` and replace them.
      return new Map(
        rows.flatMap(({ kind, entries }) => (kind === 'resource' ? [] : [[kind, entries] as const])),
      );
    },

    async dailyCounts(account, sinceMs) {
      const { rows } = await sql<DailyCount>`
        select taken_at as "takenAt", kind, entries from snapshots where run_id in (
          select max(id) from runs
          where account = ${account} and started_at >= ${toIso(sinceMs)} and plan_digest is not null
          group by substr(started_at, 1, 10))
        order by taken_at, id`.execute(db);
      return rows;
    },
  };
}

async function readRun(db: Database, id: string): Promise<RunDetail | null> {
  const row = await findRun(db, id);
  if (row === null) return null;
  const [run] = await toRuns(db, [row]);
  if (run === undefined) return null;
  const operations = await db
    .selectFrom('operations')
    .select(OPERATION_COLUMNS)
    .where('run_id', '=', row.id)
    .orderBy('seq')
    .execute();
  const plan = await readPlan(db, row.plan_body);
  return {
    run,
    operations: operations.map(toOperation),
    warnings: warningsOf(row),
    // Equal plans are stored once, without their time.
    plan: plan === null ? null : { ...plan, createdAt: row.started_at },
  };
}

async function accountRecords(
  db: Database,
  rows: readonly Selectable<Tables['accounts']>[],
): Promise<AccountRecord[]> {
  const ids = rows.flatMap(({ last_run_id: id }) => (id === null ? [] : [id]));
  const runs = await db.selectFrom('runs').select(LISTED).where('id', 'in', jsonList(ids)).execute();
  const lastRuns = new Map((await toRuns(db, runs)).map((run) => [run.id, run]));
  return rows.map((row) => ({
    name: row.name,
    state: toState(row),
    lastRun: lastRuns.get(row.last_run_id ?? '') ?? null,
    lastSuccessAt: row.last_success_at,
    dueMs: row.due_at === null ? null : toMs(row.due_at),
    tickedMs: row.ticked_at === null ? null : toMs(row.ticked_at),
    remaining: toRemaining(row),
  }));
}
