// Locks as the transactions that depend on them see them.
import type { Lease } from '../core/locks.ts';
import type { Database } from './database.ts';

/** Whether a lock is still in the hands of whoever took it; asked within the transaction that depends on it. */
export async function holds(connection: Database, lease: Lease): Promise<boolean> {
  const row = await connection
    .selectFrom('locks')
    .select('token')
    .where('account', '=', lease.account)
    .executeTakeFirst();
  return row?.token === lease.token;
}
