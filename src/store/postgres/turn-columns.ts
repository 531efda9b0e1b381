// The parts of statements that several files of the turns use.
import { type RawBuilder, sql } from 'kysely';
import type { CronLine } from '../../core/turn-store.ts';
import type { Database } from '../tables.ts';

export interface TurnContext {
  readonly db: Database;
  /** The database's clock as an expression; it must be stable within a statement. */
  readonly now: RawBuilder<unknown>;
}

export interface LineRow {
  readonly schedule: string;
  readonly timezone: string;
  readonly jitter_ms: number;
}

export function lineOf({ schedule, timezone, jitter_ms: jitterMs }: LineRow): CronLine {
  return { schedule, timezone, jitterMs };
}

export function isLine({ schedule, timezone, jitterMs }: CronLine): RawBuilder<unknown> {
  return sql`schedule = ${schedule} and timezone = ${timezone} and jitter_ms = ${jitterMs}::integer`;
}

/** Epoch milliseconds as a timestamp. */
export function moment(epochMs: number | null): RawBuilder<unknown> {
  return sql`to_timestamp(${epochMs}::float8 / 1000)`;
}

/** A timestamp as epoch milliseconds. */
export function ms(timestamp: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`round(extract(epoch from ${timestamp}) * 1000)::float8`;
}

/**
 * The columns of a turn that ends without its run: due since it was due for this turn, so that it keeps its place, by hand
 * when it was, otherwise for the given trigger.
 */
export function freed(now: RawBuilder<unknown>, trigger: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`holder = null, held_for = null, claimed_due_at = null,
    requested = coalesce(requested, case when held_for = 'manual' then held_for else ${trigger} end),
    due_at = case when removed = 0 then least(due_at, coalesce(claimed_due_at, ${now})) end`;
}

/** Wakes all replicas: `turn`, an account may have become due; `replica`, a replica was added. */
export function notify(what: 'turn' | 'replica'): RawBuilder<unknown> {
  return sql`pg_notify('rolecall_turns', current_schema() || ' ' || ${what}::text)`;
}

/** Whether a live replica has stored its configuration. */
export function hasConfiguration(now: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`exists (
    select 1 from replicas where is_dead = 0 and expires_at > ${now} and config_commit is not null)`;
}

/** The commit that an account needs. Files without a commit are only known to follow the latest one. */
export const COMMIT = sql`(
  select commit from config_generations where gen <= turns.config_gen + 1 and commit <> ''
  order by gen desc limit 1)`;

/** Whether an account waits for a configuration that no replica has; false while none has stored its own. */
export function isUnavailable(now: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`turns.config_gen > (
    select max(replicas.config_gen) from replicas
    where is_dead = 0 and expires_at > ${now} and config_commit is not null)`;
}
