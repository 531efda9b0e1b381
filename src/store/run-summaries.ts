// Reads single facts about many runs at once, for lists of runs and accounts.
import { sql } from 'kysely';
import { type Action, ACTIONS } from '../core/catalog.ts';
import { distinctLength } from '../core/short-ids.ts';
import { PLAN_HEAD_BYTES, parsePlanHead } from './large-run.ts';
import { nextTurn } from './small-transactions.ts';
import type { Database } from './tables.ts';

/** Reading and decompressing this many heads of plans takes about 20 ms. */
const RUNS_AT_A_TIME = 500;

/** The shortest beginnings that name these runs and no others, all of the same length, by the complete id. */
export async function readShortIds(
  db: Database,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  // Of all ids, the neighbours in their order have the longest common beginning with an id.
  const { rows } = await sql<{ id: string; before: string | null; after: string | null }>`
    select value as id, (select max(id) from runs where id < value) as before,
      (select min(id) from runs where id > value) as after
    from json_each(${JSON.stringify(ids)})`.execute(db);
  const length = Math.max(0, ...rows.map(({ id, before, after }) => distinctLength(id, [before, after])));
  return new Map(ids.map((id) => [id, id.slice(0, length)]));
}

/** How many operations of each run's plan were not done. Runs without a plan are absent. */
export async function readRemaining(
  db: Database,
  runIds: readonly string[],
): Promise<ReadonlyMap<string, Readonly<Record<Action, number>>>> {
  const remaining = new Map<string, Record<Action, number>>();
  for (let at = 0; at < runIds.length; at += RUNS_AT_A_TIME) {
    if (at > 0) await nextTurn();
    const ids = JSON.stringify(runIds.slice(at, at + RUNS_AT_A_TIME));
    for (const [id, planned] of await plannedOf(db, ids)) remaining.set(id, planned);
    for (const { run_id: id, action, done } of await doneOf(db, ids)) {
      const planned = remaining.get(id);
      if (planned !== undefined) planned[action] = Math.max(0, planned[action] - done);
    }
  }
  return remaining;
}

/** The numbers of operations in the plans of these runs. */
async function plannedOf(db: Database, ids: string): Promise<[string, Record<Action, number>][]> {
  const { rows } = await sql<{ id: string; head: Uint8Array }>`
    select runs.id, substr(plan_bodies.body, 1, ${PLAN_HEAD_BYTES}) as head
    from runs join plan_bodies on plan_bodies.digest = runs.plan_body
    where runs.id in (select value from json_each(${ids}))`.execute(db);
  return rows.flatMap(({ id, head }) => {
    const summary = parsePlanHead(head)?.summary;
    if (summary === undefined) return [];
    return [[id, { create: summary.create, delete: summary.delete } satisfies Record<Action, number>]];
  });
}

async function doneOf(db: Database, ids: string) {
  return await db
    .selectFrom('operations')
    .select(({ fn }) => ['run_id', 'action', fn.countAll<number>().as('done')])
    .where('run_id', 'in', sql<string>`(select value from json_each(${ids}))`)
    .where('status', '=', 'done')
    .where('action', 'in', ACTIONS)
    .groupBy(['run_id', 'action'])
    .execute();
}
