// The journal as people ask it: the runs, and one run with everything that came of it.
import type { Selectable } from 'kysely';
import { sql } from 'kysely';
import { cutSubject } from '../core/commit-subject.ts';
import type { RunRecord } from '../core/journal.ts';
import type { JournalReader } from '../core/journal-reader.ts';
import { toState } from './accounts.ts';
import { claimantOf } from './claims.ts';
import type { Database } from './database.ts';
import { totalsOf } from './run-totals.ts';
import type { OperationsTable, RunsTable } from './tables.ts';
import { toIso, toMs } from './times.ts';
import { readPlan, warningsOf } from './run-report.ts';

export function journalReader(db: Database): JournalReader {
  return {
    async runs({ account, limit, sinceMs, status }) {
      let query = db
        .selectFrom('runs')
        .selectAll()
        .orderBy('started_at', 'desc')
        .orderBy('id', 'desc')
        .limit(limit);
      if (account !== undefined) query = query.where('account', '=', account);
      if (status !== undefined) query = query.where('status', '=', status);
      if (sinceMs !== undefined) query = query.where('started_at', '>=', toIso(sinceMs));
      return await toRuns(db, await query.execute());
    },

    async runsBeginning(prefix, limit) {
      if (!/^[0-9a-f-]{1,36}$/.test(prefix)) return [];
      const rows = await db
        .selectFrom('runs')
        .selectAll()
        .where('id', '>=', prefix)
        .where('id', '<', `${prefix}g`)
        .orderBy('id', 'desc')
        .limit(limit)
        .execute();
      return rows.map(toRun);
    },

    async run(id) {
      if (!/^[0-9a-f-]{4,36}$/.test(id)) return null;
      const rows = await db
        .selectFrom('runs')
        .selectAll()
        .where('id', '>=', id)
        .where('id', '<', `${id}g`)
        .limit(2)
        .execute();
      const [row, other] = rows;
      if (row === undefined || other !== undefined) return null;
      const operations = await db
        .selectFrom('operations')
        .selectAll()
        .where('run_id', '=', row.id)
        .orderBy('seq')
        .execute();
      const plan = await readPlan(db, row.plan_body);
      const [run] = await toRuns(db, [row]);
      if (run === undefined) return null;
      return {
        run,
        operations: operations.map(toOperation),
        warnings: warningsOf(row),
        // Only the time of the plan is the run's own.
        plan: plan === null ? null : { ...plan, createdAt: row.started_at },
      };
    },

    async accounts(name) {
      let query = db.selectFrom('accounts').selectAll().orderBy('name');
      if (name !== undefined) query = query.where('name', '=', name);
      const rows = await query.execute();
      const ids = rows.flatMap(({ last_run_id: id }) => (id === null ? [] : [id]));
      const runs = await sql<Selectable<RunsTable>>`
        select runs.* from json_each(${JSON.stringify(ids)}) join runs on runs.id = value`.execute(db);
      const lastRuns = new Map((await toRuns(db, runs.rows)).map((run) => [run.id, run]));
      return rows.map((row) => ({
        name: row.name,
        state: toState(row),
        lastRun: lastRuns.get(row.last_run_id ?? '') ?? null,
        lastSuccessAt: row.last_success_at,
      }));
    },

    async approvals() {
      const rows = await db
        .selectFrom('accounts')
        .select(['name', 'approved_at'])
        .where('approved_digest', 'is not', null)
        .where('paused', '=', 0)
        .orderBy('name')
        .execute();
      return rows.map((row) => ({ account: row.name, givenAtMs: toMs(row.approved_at ?? toIso(0)) }));
    },

    claimant: (claim) => claimantOf(db, claim),

    async entryCounts(runId) {
      const rows = await db
        .selectFrom('snapshots')
        .select(['kind', 'entries'])
        .where('run_id', '=', runId)
        .orderBy('id')
        .execute();
      // The later phase comes later and wins.
      return new Map(
        rows.flatMap(({ kind, entries }) => (kind === 'resource' ? [] : [[kind, entries] as const])),
      );
    },
  };
}

/** A run that still lasts has not counted yet; what the journal holds of it says how far it is. */
async function toRuns(db: Database, rows: readonly Selectable<RunsTable>[]): Promise<RunRecord[]> {
  return await Promise.all(
    rows.map(async (row) =>
      row.status === 'running' ? { ...toRun(row), ...(await totalsOf(db, row.id)) } : toRun(row),
    ),
  );
}

/** Words of a newer version (a status, a trigger) are passed on as they are; what prints them must handle them. */
function toRun(row: Selectable<RunsTable>): RunRecord {
  return {
    id: row.id,
    account: row.account,
    remoteAccountId: row.remote_account_id,
    trigger: row.trigger,
    mode: row.mode,
    status: row.status,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    configDigest: row.config_digest,
    configCommit: row.config_commit,
    configDirty: row.config_dirty === null ? null : row.config_dirty === 1,
    configAuthoredAt: row.config_authored_at,
    // Earlier versions stored all of it.
    configSubject: row.config_subject === null ? null : cutSubject(row.config_subject),
    planDigest: row.plan_digest,
    created: row.created,
    deleted: row.deleted,
    held: row.held,
    kept: row.kept,
    failed: row.failed,
    requests: row.requests,
    retries: row.retries,
    errorCode: row.error_code,
    error: row.error,
    folded: row.folded,
    foldedUntil: row.folded_until,
  };
}

function toOperation(row: Selectable<OperationsTable>) {
  return {
    runId: row.run_id,
    seq: row.seq,
    kind: row.kind,
    action: row.action,
    name: row.name,
    remoteId: row.remote_id,
    status: row.status,
    rule: row.rule,
    reason: row.reason,
    attempts: row.attempts,
    httpStatus: row.http_status,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
  };
}
