// Which account of the store uses a remote account or a token: no two accounts may use the same one. The account of a file
// that was renamed takes over the journal of the former name.
import type { Lease } from '../core/ports/locks.ts';
import type { IdentityClaim, Journal } from '../core/ports/journal.ts';
import { type AccountRow, toState } from './account-state.ts';
import { errorCode } from '../core/errors.ts';
import { engineOf } from './engine.ts';
import type { Database } from './tables.ts';
import { sql } from 'kysely';
import { brokenRuns, interruptRun } from './broken-runs.ts';
import { isHeld, isLocked, lockLost, requireOwnRun } from './fence.ts';

/**
 * The account that has claimed the same remote account at the same address, or null: a configured one, or one that was
 * renamed or removed while it runs.
 */
export async function claimantOf(
  db: Database,
  { account, baseUrl, remoteAccountId, configured }: IdentityClaim,
): Promise<string | null> {
  const claimants = await db
    .selectFrom('accounts')
    .select('name')
    .where('base_url', '=', baseUrl)
    .where('remote_account_id', '=', remoteAccountId ?? '')
    .where('name', '!=', account)
    .execute();
  for (const { name } of claimants) {
    if (configured.has(name) || (await isLocked(db, name, Date.now()))) return name;
  }
  return null;
}

/** A value that must be unique is in another row. */
const DUPLICATE = /^(SQLITE_CONSTRAINT_UNIQUE|23505)$/;

/** Implements Journal.claimToken: no two rows have one token. */
export async function claimToken(
  db: Database,
  { account, runId }: Lease,
  tokenKey: string,
): ReturnType<Journal['claimToken']> {
  for (;;) {
    try {
      const { rows } = await sql<AccountRow>`
        update accounts set lease_token = ${tokenKey} where name = ${account} and lease_run = ${runId}
        returning *`.execute(db);
      if (rows[0] === undefined) throw lockLost();
      return { state: toState(rows[0]) };
    } catch (error) {
      if (!DUPLICATE.test(errorCode(error))) throw error;
    }
    const accounts = db.selectFrom('accounts').selectAll().where('lease_token', '=', tokenKey);
    const user = await accounts.executeTakeFirst();
    if (user === undefined) continue;
    if (isHeld(db, user, await engineOf(db).clockMs(db, Date.now()))) return { usedBy: user.name };
    // Its run has ended without releasing it.
    const stale = db.updateTable('accounts').set({ lease_token: null });
    await stale
      .where('lease_token', '=', tokenKey)
      .where('lease_run', 'is not distinct from', user.lease_run)
      .execute();
  }
}

/** The columns of `accounts` that the row of the new name keeps; the others come from the row of the former one. */
const KEPT_COLUMNS = [
  'consecutive_failures',
  'last_run_id',
  'due_at',
  'due_reason',
  'due_by',
  'ticked_at',
  'lease_holder',
  'lease_until',
  'lease_run',
  'lease_token',
] as const;

/** Those that it keeps if it is paused itself: a pause of either stays. */
const PAUSE_COLUMNS = ['paused', 'paused_at', 'paused_by', 'paused_reason'] as const;

const MOVED_TABLES = ['runs', 'snapshots', 'entries', 'operator_actions'] as const;

/** Implements Journal.adoptRenamedAccount within a transaction. */
export async function adoptRenamedAccount(
  connection: Database,
  claim: IdentityClaim,
): Promise<string | null> {
  await requireOwnRun(connection, claim.runId);
  const former = await formerNameOf(connection, claim);
  if (former !== null) await moveJournal(connection, former, claim.account);
  return former;
}

/** The last account that claimed the same remote account, if none claims it now and this one never did. */
async function formerNameOf(db: Database, claim: IdentityClaim): Promise<string | null> {
  const { account, baseUrl, remoteAccountId } = claim;
  if (remoteAccountId === null) return null;
  const own = await db
    .selectFrom('accounts')
    .select('remote_account_id')
    .where('name', '=', account)
    .executeTakeFirst();
  if (typeof own?.remote_account_id === 'string' || (await claimantOf(db, claim)) !== null) return null;
  const former = await db
    .selectFrom('accounts')
    .select('name')
    .where('base_url', '=', baseUrl)
    .where('remote_account_id', '=', remoteAccountId)
    .where('name', '!=', account)
    .orderBy('last_run_id', (order) => order.desc().nullsLast())
    .executeTakeFirst();
  return former?.name ?? null;
}

/** Moves all rows of an account to another name. */
async function moveJournal(connection: Database, former: string, account: string): Promise<void> {
  // No process that may be alive holds the lease of the old name, so its broken runs are ended here.
  const nowMs = await engineOf(connection).clockMs(connection, Date.now());
  for (const id of await brokenRuns(connection, former, null, nowMs))
    await interruptRun(connection, id, nowMs);
  const accounts = connection.selectFrom('accounts').selectAll();
  const own = await accounts.where('name', '=', account).executeTakeFirstOrThrow();
  const kept = [...KEPT_COLUMNS, ...(own.paused === 1 ? PAUSE_COLUMNS : [])];
  await connection.deleteFrom('accounts').where('name', '=', account).execute();
  await connection
    .updateTable('accounts')
    .set({ ...Object.fromEntries(kept.map((column) => [column, own[column]])), name: account })
    .where('name', '=', former)
    .execute();
  // The rows of the former name replace those of the new one.
  await sql`
    delete from entries where account = ${account} and exists (
      select 1 from entries as moved where moved.account = ${former}
        and moved.remote_account_id = entries.remote_account_id and moved.kind = entries.kind
        and moved.remote_id = entries.remote_id)`.execute(connection);
  for (const table of MOVED_TABLES) {
    await sql`update ${sql.table(table)} set account = ${account} where account = ${former}`.execute(
      connection,
    );
  }
}
