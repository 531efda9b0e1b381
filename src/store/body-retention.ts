// Deletes the bodies of snapshots and plans to which no row refers.
import { sql } from 'kysely';
import type { Database } from './tables.ts';
import { PAGE, deleteRows, inSteps, pages } from './small-transactions.ts';

const UNUSED = {
  snapshot_bodies: sql`not exists (select 1 from snapshots where snapshots.digest = snapshot_bodies.digest)`,
  plan_bodies: sql`not exists (select 1 from runs where runs.plan_body = plan_bodies.digest)`,
} as const;

export async function pruneBodies(db: Database): Promise<void> {
  for (const table of ['snapshot_bodies', 'plan_bodies'] as const) await pruneTable(db, table);
}

interface BodyRow {
  readonly digest: string;
  readonly bytes: number;
  readonly is_unused: number;
}

async function pruneTable(db: Database, table: keyof typeof UNUSED): Promise<void> {
  const unused = UNUSED[table];
  const read = ({ digest }: Pick<BodyRow, 'digest'>) =>
    sql<BodyRow>`
      select digest, bytes, case when ${unused} then 1 else 0 end as is_unused
      from (
        -- The page is chosen first. Otherwise PostgreSQL looks for the rows of all bodies.
        select digest, length(body) as bytes from ${sql.table(table)}
        where digest > ${digest} order by digest limit ${PAGE}) as ${sql.table(table)}
      order by digest`.execute(db);
  for await (const rows of pages({ digest: '' }, read)) {
    await inSteps(
      rows.filter(({ is_unused }) => is_unused === 1),
      (some) => {
        const digests = sql.join(some.map(({ digest }) => digest));
        // A new run may refer to it now.
        return deleteRows(
          db,
          sql`delete from ${sql.table(table)} where digest in (${digests}) and ${unused}`,
        );
      },
      ({ bytes }) => bytes,
    );
  }
}
