// Finds out which account of the store uses a remote account or a token: no two accounts may use the same one.
import type { Lease } from '../core/ports/locks.ts';
import type { IdentityClaim } from '../core/ports/journal.ts';
import { engineOf } from './engine.ts';
import type { Database } from './tables.ts';
import { isHeld, isLocked } from './locks.ts';

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

/** Implements Journal.claimToken within a transaction. */
export async function claimToken(db: Database, lease: Lease, tokenKey: string): Promise<string | null> {
  const users = await db
    .selectFrom('locks')
    .selectAll()
    .where('token_key', '=', tokenKey)
    .where('account', '!=', lease.account)
    .execute();
  const nowMs = await engineOf(db).clockMs(db, Date.now());
  const user = users.find((lock) => isHeld(db, lock, nowMs));
  if (user !== undefined) return user.account;
  await db
    .updateTable('locks')
    .set({ token_key: tokenKey })
    .where('account', '=', lease.account)
    .where('run_id', '=', lease.runId)
    .execute();
  return null;
}
