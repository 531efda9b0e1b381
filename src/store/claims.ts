// Which account of the store a remote account belongs to: no two may have the same one (contract, section 5, Identity).
import type { IdentityClaim } from '../core/ports.ts';
import type { Database } from './database.ts';
import { isLocked } from './locks.ts';

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
