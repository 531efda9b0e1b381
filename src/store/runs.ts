// The journal of runs and what is remembered of each account (contract, sections 5 and 6).
import type { Journal, RunEnd } from '../core/ports.ts';
import { DAY_MS } from '../core/history.ts';
import type { RecentOperation } from '../core/history.ts';
import { entryKey } from '../core/usage.ts';
import type { Plan } from '../core/plan.ts';
import { pack, sha256 } from './bodies.ts';
import type { Database } from './database.ts';
import { immediately } from './database.ts';
import { HOST } from './holder.ts';
import { toIso, toMs } from './times.ts';

type RunsJournal = Pick<
  Journal,
  | 'accountState'
  | 'memory'
  | 'knownIds'
  | 'beginRun'
  | 'identify'
  | 'recordPlan'
  | 'adopt'
  | 'rememberApplied'
  | 'rememberThrottle'
  | 'endRun'
>;

export function runsJournal(db: Database): RunsJournal {
  return {
    async accountState(account) {
      const row = await db.selectFrom('accounts').selectAll().where('name', '=', account).executeTakeFirst();
      return {
        remoteAccountId: row?.remote_account_id ?? null,
        paused: row?.paused === 1,
        throttledUntilMs: typeof row?.throttled_until === 'string' ? toMs(row.throttled_until) : null,
        lastAppliedCommit:
          typeof row?.last_applied_commit === 'string'
            ? { sha: row.last_applied_commit, committedAt: row.last_applied_committed_at ?? toIso(0) }
            : null,
      };
    },

    async memory(account, remoteAccountId, nowMs) {
      const rows = await db
        .selectFrom('entries')
        .select(['kind', 'remote_id', 'requested_name', 'created_by_run', 'adopted_by_run', 'unused_since'])
        .where('account', '=', account)
        .where('remote_account_id', '=', remoteAccountId ?? '')
        .execute();
      const owned = rows.filter((row) => row.created_by_run !== null || row.adopted_by_run !== null);
      return {
        applied: await everApplied(db, account, remoteAccountId),
        recent: await recentOperations(db, account, remoteAccountId, nowMs - DAY_MS),
        owned: new Set(owned.map((row) => entryKey(row.kind, row.remote_id))),
        requestedNames: new Map(
          rows.flatMap((row) =>
            row.requested_name === null
              ? []
              : [[entryKey(row.kind, row.remote_id), row.requested_name] as const],
          ),
        ),
        unusedSinceMs: new Map(
          rows.flatMap((row) =>
            row.unused_since === null
              ? []
              : [[entryKey(row.kind, row.remote_id), toMs(row.unused_since)] as const],
          ),
        ),
      };
    },

    async knownIds(account, remoteAccountId, upToRun) {
      const rows = await db
        .selectFrom('entries')
        .select(['kind', 'remote_id'])
        .where('account', '=', account)
        .where('remote_account_id', '=', remoteAccountId ?? '')
        // Run ids are UUIDv7: their order is the order of time.
        .where((eb) => eb.or([eb('created_by_run', 'is not', null), eb('first_seen_run', '<=', upToRun)]))
        .execute();
      return new Set(rows.map((row) => entryKey(row.kind, row.remote_id)));
    },

    beginRun(run) {
      return immediately(db, async (connection) => {
        await connection
          .insertInto('accounts')
          .values({ name: run.account, last_run_id: run.id })
          .onConflict((conflict) => conflict.column('name').doUpdateSet({ last_run_id: run.id }))
          .execute();
        await connection
          .insertInto('runs')
          .values({
            id: run.id,
            account: run.account,
            trigger: run.trigger,
            mode: run.mode,
            status: 'running',
            started_at: toIso(run.startedAtMs),
            config_digest: run.configDigest,
            config_commit: run.configCommit,
            holder_host: HOST,
            holder_pid: process.pid,
          })
          .execute();
      });
    },

    identify({ runId, account, baseUrl, remoteAccountId, configured }) {
      return immediately(db, async (connection) => {
        const claimants = await connection
          .selectFrom('accounts')
          .select('name')
          .where('base_url', '=', baseUrl)
          .where('remote_account_id', '=', remoteAccountId ?? '')
          .where('name', '!=', account)
          .execute();
        const other = claimants.find(({ name }) => configured.has(name));
        if (other !== undefined) return other.name;
        await connection
          .updateTable('runs')
          .set({ remote_account_id: remoteAccountId })
          .where('id', '=', runId)
          .execute();
        await claim(connection, account, baseUrl, remoteAccountId);
        return null;
      });
    },

    async recordPlan(runId: string, plan: Plan) {
      // Quiet runs make the same plan again and again; without its time it is stored once.
      const json = JSON.stringify({ ...plan, createdAt: '' });
      const digest = `sha256:${sha256(json)}`;
      await immediately(db, async (connection) => {
        const known = await connection
          .selectFrom('plan_bodies')
          .select('digest')
          .where('digest', '=', digest)
          .executeTakeFirst();
        if (known === undefined) {
          await connection
            .insertInto('plan_bodies')
            .values({ digest, body: pack(json) })
            .execute();
        }
        await connection
          .updateTable('runs')
          .set({ plan_body: digest, plan_digest: plan.digest })
          .where('id', '=', runId)
          .execute();
      });
    },

    async adopt(account, remoteAccountId, runId, entries) {
      const ids = new Set<string>(entries);
      const rows = await db
        .selectFrom('entries')
        .select(['kind', 'remote_id'])
        .where('account', '=', account)
        .where('remote_account_id', '=', remoteAccountId ?? '')
        .where('adopted_by_run', 'is', null)
        .where('created_by_run', 'is', null)
        .execute();
      const fresh = rows.filter((row) => ids.has(entryKey(row.kind, row.remote_id)));
      if (fresh.length === 0) return;
      await immediately(db, async (connection) => {
        for (const { kind, remote_id } of fresh) {
          await connection
            .updateTable('entries')
            .set({ adopted_by_run: runId })
            .where('account', '=', account)
            .where('remote_account_id', '=', remoteAccountId ?? '')
            .where('kind', '=', kind)
            .where('remote_id', '=', remote_id)
            .execute();
        }
      });
    },

    async rememberApplied(account, commit) {
      await db
        .updateTable('accounts')
        .set({
          last_applied_commit: commit?.sha ?? null,
          last_applied_committed_at: commit?.committedAt ?? null,
        })
        .where('name', '=', account)
        .execute();
    },

    async rememberThrottle(account, untilMs) {
      await db
        .updateTable('accounts')
        .set({ throttled_until: toIso(untilMs) })
        .where('name', '=', account)
        .execute();
    },

    endRun(runId: string, end: RunEnd) {
      return immediately(db, async (connection) => {
        await connection
          .updateTable('runs')
          .set({
            status: end.status,
            finished_at: toIso(end.finishedAtMs),
            ...end.counts,
            ...end.traffic,
            plan_digest: end.planDigest,
            error_code: end.errorCode,
            error: end.error,
            warnings: end.warnings.length === 0 ? null : JSON.stringify(end.warnings),
          })
          .where('id', '=', runId)
          // A run that another process declared interrupted stays so.
          .where('status', '=', 'running')
          .execute();
        const bad = end.status === 'failed' || end.status === 'partial' || end.status === 'blocked';
        await connection
          .updateTable('accounts')
          .set((eb) => ({
            consecutive_failures:
              end.status === 'interrupted'
                ? eb.ref('consecutive_failures')
                : bad
                  ? eb('consecutive_failures', '+', 1)
                  : eb.val(0),
          }))
          .where('last_run_id', '=', runId)
          .execute();
      });
    },
  };
}

async function claim(
  connection: Database,
  account: string,
  baseUrl: string,
  remoteAccountId: string | null,
): Promise<void> {
  const row = await connection
    .selectFrom('accounts')
    .select('remote_account_id')
    .where('name', '=', account)
    .executeTakeFirst();
  const known = row?.remote_account_id ?? null;
  const accounts = connection.updateTable('accounts').where('name', '=', account);
  await accounts.set({ base_url: baseUrl }).execute();
  if (remoteAccountId === null || remoteAccountId === known) return;
  await accounts.set({ remote_account_id: remoteAccountId }).execute();
  if (known === null) await nameHistory(connection, account, remoteAccountId);
  else await forgetHistory(connection, account);
}

/** What was journaled before the account's id was known is that account's from now on. */
async function nameHistory(connection: Database, account: string, remoteAccountId: string): Promise<void> {
  await connection
    .updateTable('entries')
    .set({ remote_account_id: remoteAccountId })
    .where('account', '=', account)
    .where('remote_account_id', '=', '')
    .execute();
  await connection
    .updateTable('runs')
    .set({ remote_account_id: remoteAccountId })
    .where('account', '=', account)
    .where('remote_account_id', 'is', null)
    .execute();
}

/** Another account behind the same file: nothing that was remembered of the old one holds for it. */
async function forgetHistory(connection: Database, account: string): Promise<void> {
  await connection
    .updateTable('accounts')
    .set({
      last_good_run: null,
      last_good_phase: null,
      pending_digest: null,
      approved_digest: null,
      throttled_until: null,
      last_applied_commit: null,
      last_applied_committed_at: null,
    })
    .where('name', '=', account)
    .execute();
  await connection.deleteFrom('missing_holdings').where('account', '=', account).execute();
}

async function everApplied(db: Database, account: string, remoteAccountId: string | null): Promise<boolean> {
  const row = await db
    .selectFrom('runs')
    .select('id')
    .where('account', '=', account)
    .where('remote_account_id', 'is', remoteAccountId)
    .where('plan_digest', 'is not', null)
    .where((eb) =>
      eb.or([
        eb('status', 'in', ['converged', 'held', 'partial', 'interrupted']),
        eb('created', '>', 0),
        eb('deleted', '>', 0),
      ]),
    )
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

async function recentOperations(
  db: Database,
  account: string,
  remoteAccountId: string | null,
  sinceMs: number,
): Promise<RecentOperation[]> {
  const rows = await db
    .selectFrom('operations')
    .innerJoin('runs', 'runs.id', 'operations.run_id')
    .leftJoin('entries', (join) =>
      join
        .onRef('entries.account', '=', 'runs.account')
        .on('entries.remote_account_id', '=', remoteAccountId ?? '')
        .onRef('entries.kind', '=', 'operations.kind')
        .onRef('entries.remote_id', '=', 'operations.remote_id'),
    )
    .select([
      'operations.action',
      'operations.kind',
      'operations.name',
      'operations.remote_id',
      'operations.status',
      'operations.attempts',
      'operations.finished_at',
      'entries.last_seen_run',
    ])
    .where('runs.account', '=', account)
    .where('runs.remote_account_id', 'is', remoteAccountId)
    .where('operations.status', 'in', ['done', 'unknown', 'sent'])
    .where('operations.finished_at', '>', toIso(sinceMs))
    .execute();
  return rows.map((row) => ({
    action: row.action,
    kind: row.kind,
    name: row.name,
    remoteId: row.remote_id,
    status: row.status,
    attempts: row.attempts,
    finishedAtMs: toMs(row.finished_at ?? toIso(0)),
    listed: row.last_seen_run !== null,
  }));
}
