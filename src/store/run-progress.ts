// Counts how far a run is, for those who watch it.
import { sql } from 'kysely';
import type { RunProgress } from '../core/journal-reader.ts';
import type { Database } from './tables.ts';
import { inRanges } from './small-transactions.ts';

type Counts = Omit<RunProgress, 'status'>;

/** The counts of a run's operations, without the held ones. null when there is no such run. */
export async function readProgress(db: Database, runId: string): Promise<RunProgress | null> {
  const run = await db.selectFrom('runs').select('status').where('id', '=', runId).executeTakeFirst();
  if (run === undefined) return null;
  let counts: Counts = { total: 0, done: 0, failed: 0, sent: 0, unknown: 0, firstSentAt: null };
  await inRanges(db, runId, async (range) => {
    const { rows } = await sql<Counts>`
      select count(*) as total,
        count(*) filter (where status = 'done') as done,
        count(*) filter (where status = 'failed') as failed,
        count(*) filter (where status = 'sent') as sent,
        count(*) filter (where status = 'unknown') as unknown,
        min(started_at) as "firstSentAt"
      from operations where run_id = ${runId} and status <> 'held' and ${range}`.execute(db);
    for (const row of rows) counts = added(counts, row);
  });
  return { status: run.status, ...counts };
}

function added(a: Counts, b: Counts): Counts {
  return {
    total: a.total + b.total,
    done: a.done + b.done,
    failed: a.failed + b.failed,
    sent: a.sent + b.sent,
    unknown: a.unknown + b.unknown,
    firstSentAt: [a.firstSentAt, b.firstSentAt].filter((time) => time !== null).toSorted()[0] ?? null,
  };
}
