// Reads what decides the place of each account in a list of all accounts, in one statement and few columns: with ten
// thousand accounts, reading everything would block the process for a noticeable time.
import type { AccountBrief } from '../core/journal-reader.ts';
import { toApproval, toPause, toPending } from './account-state.ts';
import type { Database } from './tables.ts';

export async function readAccountBriefs(db: Database): Promise<AccountBrief[]> {
  const rows = await db
    .selectFrom('accounts')
    .leftJoin('runs', 'runs.id', 'accounts.last_run_id')
    .select([
      'accounts.name',
      'accounts.paused',
      'accounts.paused_at',
      'accounts.paused_by',
      'accounts.paused_reason',
      'accounts.pending_digest',
      'accounts.pending_run',
      'accounts.pending_since',
      'accounts.approved_digest',
      'accounts.approved_at',
      'accounts.approved_by',
      'accounts.last_success_at',
      'runs.id',
      'runs.status',
      'runs.started_at',
      'runs.plan_digest',
      'runs.held',
    ])
    .execute();
  return rows.map((row) => ({
    name: row.name,
    pause: toPause(row),
    pending: toPending(row),
    approval: toApproval(row),
    lastRun:
      row.id === null || row.status === null || row.started_at === null
        ? null
        : {
            id: row.id,
            status: row.status,
            startedAt: row.started_at,
            planDigest: row.plan_digest,
            held: row.held ?? 0,
          },
    lastSuccessAt: row.last_success_at,
  }));
}
