// The schedules and the commits of the configuration in PostgreSQL. Replicas may see commits at different times: an older
// one changes no account that a newer one has changed.
import { sql } from 'kysely';
import type { ConfigGeneration, TurnStore } from '../../core/turn-store.ts';
import { notify, type TurnContext } from './turn-columns.ts';

/** Enough to find the place of a commit that is a little older than the newest. */
const MOST_GENERATIONS = 20;

type Configuration = Pick<
  TurnStore,
  'generations' | 'addGeneration' | 'isCommitOfAll' | 'update' | 'waitingForNewer'
>;

export function turnConfiguration({ db, now }: TurnContext): Configuration {
  return {
    async generations() {
      const { rows } = await sql<ConfigGeneration>`
        select gen::float8 as gen, commit, committed_at as "committedAt" from config_generations
        order by config_generations.gen desc limit ${MOST_GENERATIONS}`.execute(db);
      return rows;
    },

    async addGeneration(after, { commit, committedAt }) {
      const { rows } = await sql`
        insert into config_generations (gen, commit, committed_at) values (${after + 1}, ${commit}, ${committedAt})
        on conflict (gen) do nothing returning 1`.execute(db);
      return rows.length > 0;
    },

    async isCommitOfAll(id, commit) {
      const { rows } = await sql`
        select 1 from replicas where id <> ${id} and is_dead = 0 and expires_at > ${now}
          and config_commit is distinct from ${commit} limit 1`.execute(db);
      return rows.length === 0;
    },

    async update(generation, isDirty, schedules) {
      const column = <T>(read: (schedule: (typeof schedules)[number]) => T): T[] => schedules.map(read);
      // In the order of the names, so that two replicas do not wait for each other. An account with an invalid file
      // keeps its last good schedule.
      await sql`
        with wanted as materialized (
          select * from unnest(
            ${column(({ name }) => name)}::text[], ${column(({ lane }) => lane)}::text[],
            ${column(({ schedule }) => schedule)}::text[], ${column(({ timezone }) => timezone)}::text[],
            ${column(({ jitterMs }) => jitterMs)}::int[], ${column(({ digest }) => digest)}::text[],
            ${column(({ isBroken }) => Number(isBroken))}::int[], ${column(({ dueMs }) => dueMs)}::float8[],
            ${column(({ tickMs }) => tickMs)}::float8[])
            as wanted (account, lane, schedule, timezone, jitter_ms, config_digest, is_broken, due_ms, tick_ms)
        ), removed as (
          update turns set removed = 1, config_gen = ${generation}::bigint, due_at = null, tick_at = null, requested = null,
            backoff_until = null
          where removed = 0 and config_gen <= ${generation}
            and not exists (select 1 from wanted where wanted.account = turns.account)
        ), changed as (
          insert into turns (account, lane, schedule, timezone, jitter_ms, config_digest, config_gen, is_broken, is_dirty,
            due_at, tick_at, last_tick_at)
          select account, lane, schedule, timezone, jitter_ms, config_digest, ${generation}::bigint, is_broken, ${Number(isDirty)}::int,
            to_timestamp(due_ms / 1000), to_timestamp(tick_ms / 1000), ${now}
          from wanted order by account
          on conflict (account) do update set
            lane = ${kept('lane')}, schedule = ${kept('schedule')}, timezone = ${kept('timezone')},
            jitter_ms = ${kept('jitter_ms')}, config_digest = excluded.config_digest,
            config_gen = excluded.config_gen, is_broken = excluded.is_broken, is_dirty = excluded.is_dirty, removed = 0,
            due_at = case when ${KEEPS_DUE} then turns.due_at else excluded.due_at end,
            tick_at = case when ${KEEPS_DUE} then turns.tick_at else excluded.tick_at end,
            last_tick_at = case when turns.removed = 1 then ${now} else turns.last_tick_at end,
            backoff_until = case when turns.holder is null and excluded.is_broken = 0 then null
              else turns.backoff_until end
          where turns.config_gen <= excluded.config_gen
            and ((turns.config_digest, turns.lane, turns.is_broken, turns.removed)
                is distinct from (excluded.config_digest, ${kept('lane')}, excluded.is_broken, 0)
              or (turns.is_dirty = 1 and turns.config_gen < excluded.config_gen))
          returning account)
        select ${notify('turn')} from changed limit 1`.execute(db);
    },

    async waitingForNewer(generation) {
      const { rows } = await sql<{ count: number }>`
        select count(*)::int as count from turns where removed = 0 and config_gen > ${generation}`.execute(
        db,
      );
      return rows[0]?.count ?? 0;
    },
  };
}

/** A column of the schedule: that of an invalid file is not the account's. */
function kept(name: string) {
  const column = sql.ref(name);
  return sql`case when excluded.is_broken = 1 then turns.${column} else excluded.${column} end`;
}

/** Whether the next run remains: it is late, was requested, or follows the present one, or the schedule is the same. */
const KEEPS_DUE = sql`turns.holder is not null or (turns.removed = 0 and (
  turns.requested is not null or turns.due_at <= excluded.last_tick_at or excluded.is_broken = 1
  or (turns.backoff_until is null
    and (turns.schedule, turns.timezone, turns.jitter_ms)
      is not distinct from (excluded.schedule, excluded.timezone, excluded.jitter_ms))))`;
