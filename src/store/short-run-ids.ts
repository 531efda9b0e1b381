// Finds how much of a run id is enough to name the run.
import { sql } from 'kysely';
import { jsonRows } from './json-rows.ts';
import type { Database } from './tables.ts';

/** The shortest beginnings that name these runs and no others, all of the same length, by the complete id. */
export async function readShortIds(
  db: Database,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  // Of all ids, the neighbours in their order have the longest common beginning with an id.
  const { rows } = await sql<{ id: string; before: string | null; after: string | null }>`
    select value ->> 'id' as id, (select max(id) from runs where id < value ->> 'id') as before,
      (select min(id) from runs where id > value ->> 'id') as after
    from ${jsonRows(ids.map((id) => ({ id })))}`.execute(db);
  const length = Math.max(0, ...rows.map(({ id, before, after }) => distinctLength(id, [before, after])));
  return new Map(ids.map((id) => [id, id.slice(0, length)]));
}

/** The part of a UUIDv7 that is its time, in milliseconds. Runs that start later never begin with the same characters. */
const TIME_CHARACTERS = 13;

/** The length from which on the beginning of `id` differs from that of the others, which are other ids. */
export function distinctLength(id: string, others: readonly (string | null)[]): number {
  const shared = others.map((other) => (other === null ? 0 : sharedLength(id, other)));
  return Math.min(id.length, Math.max(TIME_CHARACTERS, ...shared.map((length) => length + 1)));
}

function sharedLength(a: string, b: string): number {
  const difference = Array.from(a).findIndex((character, index) => character !== b[index]);
  return difference === -1 ? a.length : difference;
}
