// Remembers for each account: its remote account, its throttling, its last applied commit and its approval.
import { NO_HISTORY } from '../core/plan.ts';
import { type ApprovalTaking, hasExpired } from '../core/operator.ts';
import type { AccountState, IdentityClaim, Journal } from '../core/ports/journal.ts';
import { type RawBuilder, sql } from 'kysely';
import { lockLost, ownRun, requireOwnRun } from './fence.ts';
import type { Database } from './tables.ts';
import { immediately } from './engine.ts';
import { claimantOf, claimToken, adoptRenamedAccount } from './remote-accounts.ts';
import { readPlan } from './compressed-json.ts';
import { warningsOf } from './run-rows.ts';
import { NOTHING_APPROVED, NOTHING_PENDING, type AccountRow, setColumns, toState } from './account-state.ts';
import { toIso } from './row-values.ts';
import { readPause } from './stored-settings.ts';

export function accountsJournal(db: Database) {
  return {
    accountState: (account) => stateOf(db, account),

    pauseOfAll: (nowMs) => readPause(db, nowMs),

    adoptRenamedAccount: (claimed) =>
      immediately(db, remoteKey(claimed), (connection) => adoptRenamedAccount(connection, claimed)),

    async claimRemoteAccount(identity) {
      const { runId, account, baseUrl, remoteAccountId } = identity;
      const nameRun = async (connection: Database, condition: RawBuilder<boolean>): Promise<boolean> => {
        const { numAffectedRows } = await sql`
          update runs set remote_account_id = ${remoteAccountId}
          where id in (${ownRun(connection, runId)}) and ${condition}`.execute(connection);
        return (numAffectedRows ?? 0n) > 0n;
      };
      // A claim of an earlier run still counts: other accounts see it.
      if (remoteAccountId !== null && (await nameRun(db, isOnlyClaimant(identity)))) return null;
      return await immediately(db, remoteKey(identity), async (connection) => {
        const other = await claimantOf(connection, identity);
        if (other !== null) return other;
        if (!(await nameRun(connection, sql<boolean>`true`))) throw lockLost();
        await rememberClaim(connection, account, baseUrl, remoteAccountId);
        return null;
      });
    },

    claimToken: (lease, tokenKey) => claimToken(db, lease, tokenKey),

    async rememberThrottle(account, untilMs) {
      // `validate --online` and `dump` may be throttled before the account's first run.
      await setColumns(db, account, { throttled_until: toIso(untilMs) });
    },

    async approvedPlan(account) {
      const row = await db
        .selectFrom('accounts')
        .leftJoin('runs', 'runs.id', 'accounts.pending_run')
        .select(['accounts.approved_digest', 'runs.warnings', 'runs.plan_body'])
        .where('accounts.name', '=', account)
        .executeTakeFirst();
      if (typeof row?.approved_digest !== 'string') return null;
      const isFirst = warningsOf(row).some(({ code }) => code === NO_HISTORY);
      const plan = isFirst ? await readPlan(db, row.plan_body) : null;
      return { digest: row.approved_digest, firstObserved: plan?.observedDigest ?? null };
    },

    async takeApproval({ id, account, byHand }, digest, nowMs) {
      return await immediately(db, account, async (connection): Promise<ApprovalTaking> => {
        await requireOwnRun(connection, id);
        const { approval, pause } = await stateOf(connection, account);
        if (approval === null || (pause !== null && !byHand)) return { type: 'none' };
        const isTaken = approval.digest === digest && !hasExpired(approval, nowMs);
        await connection
          .updateTable('accounts')
          // A plan that is being applied waits for nobody: a second approval would apply it again if it fails.
          .set({ ...NOTHING_APPROVED, ...(isTaken ? NOTHING_PENDING : {}) })
          .where('name', '=', account)
          .execute();
        if (isTaken) return { type: 'taken' };
        const reason = approval.digest === digest ? 'expired' : 'changed';
        return { type: 'lapsed', digest: approval.digest, reason };
      });
    },
  } satisfies Partial<Journal>;
}

async function stateOf(db: Database, account: string): Promise<AccountState> {
  const { rows } = await sql<AccountRow>`select * from accounts where name = ${account}`.execute(db);
  return toState(rows[0]);
}

/** Claims of one remote account wait for each other. */
function remoteKey({ baseUrl, remoteAccountId }: IdentityClaim): string {
  return `remote ${baseUrl} ${remoteAccountId ?? ''}`;
}

/** Whether the account, and no other one, has claimed the remote account before. */
function isOnlyClaimant({ account, baseUrl, remoteAccountId }: IdentityClaim): RawBuilder<boolean> {
  const same = sql`base_url = ${baseUrl} and remote_account_id = ${remoteAccountId}`;
  return sql<boolean>`exists (select 1 from accounts where name = ${account} and ${same})
    and not exists (select 1 from accounts where name <> ${account} and ${same})`;
}

async function rememberClaim(
  connection: Database,
  account: string,
  baseUrl: string,
  remoteAccountId: string | null,
): Promise<void> {
  const row = await connection
    .selectFrom('accounts')
    .select(['base_url', 'remote_account_id'])
    .where('name', '=', account)
    .executeTakeFirst();
  const known = row?.remote_account_id ?? null;
  const accounts = connection.updateTable('accounts').where('name', '=', account);
  if (row?.base_url !== baseUrl) await accounts.set({ base_url: baseUrl }).execute();
  if (remoteAccountId === null || remoteAccountId === known) return;
  await accounts.set({ remote_account_id: remoteAccountId }).execute();
  if (known === null) await nameHistory(connection, account, remoteAccountId);
  else await forgetHistory(connection, account);
}

/** Assigns what was journaled before the remote account's id was known to that id. */
async function nameHistory(connection: Database, account: string, remoteAccountId: string): Promise<void> {
  await sql`
    update entries set remote_account_id = ${remoteAccountId}
    where account = ${account} and remote_account_id = ''`.execute(connection);
  await sql`
    update runs set remote_account_id = ${remoteAccountId}
    where account = ${account} and remote_account_id is null`.execute(connection);
}

/** Forgets what was remembered of the former remote account, when the file now belongs to another one. */
async function forgetHistory(connection: Database, account: string): Promise<void> {
  await connection
    .updateTable('accounts')
    .set({
      last_good_run: null,
      last_good_phase: null,
      ...NOTHING_PENDING,
      ...NOTHING_APPROVED,
      throttled_until: null,
      last_applied_commit: null,
      last_applied_committed_at: null,
      released_runs: null,
    })
    .where('name', '=', account)
    .execute();
}
