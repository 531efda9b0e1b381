// Reads what decides the place of each account in a list of all accounts: few columns, and some accounts at a time, since
// with ten thousand accounts reading everything at once would block the process for a noticeable time.
import type { AccountBrief } from '../core/ports/journal-reader.ts';
import { turn } from '../system/turns.ts';
import { toApproval, toPause, toPending, toRemaining } from './account-state.ts';
import { ROWS_AT_A_TIME } from './small-transactions.ts';
import type { Database } from './tables.ts';

/** In the order of their names. */
export async function readAccountBriefs(db: Database): Promise<AccountBrief[]> {
  const briefs: AccountBrief[] = [];
  for (;;) {
    const some = await briefsAfter(db, briefs.at(-1)?.name ?? null);
    briefs.push(...some);
    if (some.length < ROWS_AT_A_TIME) return briefs;
    await turn();
  }
}

async function briefsAfter(db: Database, name: string | null): Promise<AccountBrief[]> {
  let query = db
    .selectFrom('accounts')
    .leftJoin('runs', 'runs.id', 'accounts.last_run_id')
    .orderBy('accounts.name')
    .limit(ROWS_AT_A_TIME);
  if (name !== null) query = query.where('accounts.name', '>', name);
  const rows = await query
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
      'accounts.remaining_creates',
      'accounts.remaining_deletes',
      'runs.id',
      'runs.trigger',
      'runs.mode',
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
      row.id === null ||
      row.trigger === null ||
      row.mode === null ||
      row.status === null ||
      row.started_at === null
        ? null
        : {
            id: row.id,
            trigger: row.trigger,
            mode: row.mode,
            status: row.status,
            startedAt: row.started_at,
            planDigest: row.plan_digest,
            held: row.held ?? 0,
          },
    lastSuccessAt: row.last_success_at,
    remaining: toRemaining(row),
  }));
}
