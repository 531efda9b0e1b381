// Checks that the user may use every table and sequence of the store, before a run fails on one of them.
import { sql } from 'kysely';
import { StoreError } from '../../core/errors.ts';
import type { Database } from '../tables.ts';
import { nameOf, type PostgresLocation } from './location.ts';

/** Throws StoreError with the statements that grant what the user lacks. */
export async function checkRights(db: Database, location: PostgresLocation): Promise<void> {
  // The counter of a column needs no right of its own; it depends on its table internally.
  const { rows } = await sql<{ name: string; rights: string; grant: string; by: string }>`
    select relname as name, rights, current_user as by,
      format('grant %s on %s %I.%I to %I', rights, kind, nspname, relname, current_user) as grant
    from pg_class join pg_namespace on pg_namespace.oid = relnamespace
    cross join lateral (
      select string_agg(name, ', ') as rights, case when relkind = 'S' then 'sequence' else 'table' end as kind
      from unnest(case when relkind = 'S' then array['usage'] else array['select', 'insert', 'update', 'delete'] end)
        as rights (name)
      where not case when relkind = 'S' then has_sequence_privilege(pg_class.oid, name)
        else has_table_privilege(pg_class.oid, name) end) as missing
    where nspname = ${location.schema} and relkind in ('r', 'p', 'S') and rights is not null
      and not exists (select 1 from pg_depend where classid = 'pg_class'::regclass and objid = pg_class.oid and deptype = 'i')
    order by relname`.execute(db);
  const [first] = rows;
  if (first === undefined) return;
  const others = rows.length === 1 ? '' : ` (and ${rows.length - 1} more)`;
  throw new StoreError(
    'store_readonly',
    `${nameOf(location)}: the user ${first.by} lacks the right to ${first.rights} on ${first.name}${others}; as the owner run \`${first.grant}\``,
  );
}
