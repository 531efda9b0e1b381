// An account whose file was renamed is the same account: what is journaled of it goes on under its new name.
import { sql } from 'kysely';
import type { IdentityClaim } from '../core/ports.ts';
import { claimantOf } from './claims.ts';
import type { Database } from './tables.ts';
import { brokenRuns, interruptRuns } from './locks.ts';

/** As Journal.adoptRenamedAccount, within a transaction. */
export async function adoptRenamedAccount(
  connection: Database,
  claim: IdentityClaim,
): Promise<string | null> {
  const former = await formerNameOf(connection, claim);
  if (former !== null) await carryOn(connection, former, claim.account);
  return former;
}

/** The account that had claimed the same remote account last, when none claims it any more and this one never did. */
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
    .orderBy('last_run_id', 'desc')
    .executeTakeFirst();
  return former?.name ?? null;
}

/** All that is journaled of an account goes on under another name. */
async function carryOn(connection: Database, former: string, account: string): Promise<void> {
  // Nobody who may be alive holds the lock of the old name, so it is taken over as any lock is.
  const nowMs = Date.now();
  const broken = await brokenRuns(connection, former, true, nowMs);
  await interruptRuns(connection, broken, nowMs, (work) => work(connection));
  await connection.deleteFrom('locks').where('account', '=', former).execute();
  await sql`
    update accounts set (base_url, remote_account_id, paused, pending_digest, pending_run, pending_since,
      approved_digest, approved_at, last_good_run, last_good_phase, throttled_until, last_applied_commit,
      last_applied_committed_at, last_success_at)
      = (select base_url, remote_account_id, max(paused, accounts.paused), pending_digest, pending_run, pending_since,
        approved_digest, approved_at, last_good_run, last_good_phase, throttled_until, last_applied_commit,
        last_applied_committed_at, last_success_at from accounts as former where former.name = ${former})
    where name = ${account}`.execute(connection);
  for (const table of ['runs', 'snapshots', 'entries', 'missing_holdings'] as const) {
    await sql`update or replace ${sql.table(table)} set account = ${account} where account = ${former}`.execute(
      connection,
    );
  }
  await connection.deleteFrom('accounts').where('name', '=', former).execute();
}
