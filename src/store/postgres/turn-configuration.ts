// The schedules and the commits of the configuration in PostgreSQL. Replicas may see commits at different times: an older
// one changes no account that a newer one has changed.
import { sql } from 'kysely';
import type {
  ConfigGeneration,
  ConfigSituation,
  DueSchedule,
  TurnStore,
  WaitingAccounts,
} from '../../core/turn-store.ts';
import type { Database } from '../tables.ts';
import { immediately } from '../transactions.ts';
import { COMMIT, isUnavailable, notify, type TurnContext } from './turn-columns.ts';

/** Enough to find the place of a commit that is a little older than the newest. */
const MOST_GENERATIONS = 20;

const MOST_NAMED = 20;

/** All replicas store their configurations one after the other. */
const KEY = 'configuration of the replicas';

type Own = Parameters<TurnStore['update']>[2];

export function turnConfiguration({
  db,
  now,
}: TurnContext): Pick<TurnStore, 'situation' | 'update' | 'waiting'> {
  async function situation(connection: Database, id: string): Promise<ConfigSituation> {
    const generations = await sql<ConfigGeneration>`
      select gen::float8 as gen, commit, digest, flaws, committed_at as "committedAt"
      from config_generations
      where config_generations.gen in (
          select gen from config_generations order by gen desc limit ${MOST_GENERATIONS})
        or config_generations.gen = (select max(gen) from config_generations where commit <> '')
      order by config_generations.gen desc`.execute(connection);
    const others = await sql<ConfigSituation['others'][number]>`
      select id, case when config_commit is not null
          then jsonb_build_object('commit', config_commit, 'digest', config_digest) end as files
      from replicas where id <> ${id} and is_dead = 0 and expires_at > ${now} order by id`.execute(
      connection,
    );
    return { generations: generations.rows, others: others.rows };
  }

  async function publish(connection: Database, id: string, own: Own): Promise<void> {
    const { commit, digest, flaws, generation, isNewest } = own;
    const sha = commit?.sha ?? '';
    if (isNewest)
      await sql`
        insert into config_generations (gen, commit, committed_at, digest, flaws)
        values (${generation}, ${sha}, ${commit?.committedAt ?? ''}, ${digest}, ${flaws})
        on conflict (gen) do nothing`.execute(connection);
    await sql`
      update replicas set config_gen = ${generation}, config_commit = ${sha}, config_digest = ${digest}
      where id = ${id}`.execute(connection);
  }

  /** In the order of the names, so that a claim and this do not wait for each other. */
  async function storeSchedules(
    connection: Database,
    own: Own,
    schedules: readonly DueSchedule[],
  ): Promise<void> {
    const generation = own.generation - 1;
    // An account with an invalid file keeps its last good schedule.
    await sql`
      with wanted as materialized (${wanted(schedules)}), removed as (
        update turns set removed = 1, config_gen = ${generation}::bigint, due_at = null, tick_at = null, requested = null,
          backoff_until = null
        where removed = 0 and config_gen <= ${generation}
          and not exists (select 1 from wanted where wanted.account = turns.account)
      ), changed as (
        insert into turns (account, lane, schedule, timezone, jitter_ms, config_digest, config_gen, is_broken, due_at, tick_at, last_tick_at)
        select account, lane, schedule, timezone, jitter_ms, config_digest, ${generation}::bigint, is_broken,
          to_timestamp(due_ms / 1000), to_timestamp(tick_ms / 1000), ${now}
        from wanted order by account
        on conflict (account) do update set
          lane = ${kept('lane')}, schedule = ${kept('schedule')}, timezone = ${kept('timezone')},
          jitter_ms = ${kept('jitter_ms')}, config_digest = excluded.config_digest,
          config_gen = excluded.config_gen, is_broken = excluded.is_broken, removed = 0,
          due_at = case when ${KEEPS_DUE} then turns.due_at else excluded.due_at end,
          tick_at = case when ${KEEPS_DUE} then turns.tick_at else excluded.tick_at end,
          last_tick_at = case when turns.removed = 1 then ${now} else turns.last_tick_at end,
          requested = case when turns.removed = 0 then turns.requested end,
          backoff_until = case when turns.holder is null and excluded.is_broken = 0 then null
            else turns.backoff_until end
        where turns.config_gen <= excluded.config_gen
          and (turns.config_digest, turns.lane, turns.is_broken, turns.removed)
            is distinct from (excluded.config_digest, ${kept('lane')}, excluded.is_broken, 0)
        returning account)
      select ${notify('turn')} from changed limit 1`.execute(connection);
  }

  /** What the newest configuration did not change counts as changed by it where an older one differs, as after a revert. */
  async function leaveToNewest(
    connection: Database,
    generation: number,
    schedules: readonly DueSchedule[],
  ): Promise<void> {
    await sql`
      with wanted as materialized (${wanted(schedules)}), differing as materialized (
        select account from turns
        where removed = 0 and config_gen <= ${generation} and not exists (
          select 1 from wanted where wanted.account = turns.account
            and wanted.config_digest = turns.config_digest
            and (wanted.is_broken = 1 or wanted.lane = turns.lane))
        order by account for update)
      update turns set config_gen = coalesce((select max(gen) from config_generations), config_gen)
      from differing where turns.account = differing.account`.execute(connection);
  }

  return {
    situation: (id) => situation(db, id),

    update: (id, before, own, schedules) =>
      immediately(db, KEY, async (connection) => {
        if (JSON.stringify(await situation(connection, id)) !== JSON.stringify(before)) return false;
        await publish(connection, id, own);
        if (own.isNewest) await storeSchedules(connection, own, schedules);
        else await leaveToNewest(connection, own.generation, schedules);
        return true;
      }),

    async waiting(generation, accounts) {
      const { rows } = await sql<WaitingAccounts>`
        select count(*)::int as newer, coalesce((array_agg(account order by account))[1:${MOST_NAMED}], '{}') as names,
          count(*) filter (where is_unavailable)::int as unavailable,
          (array_agg(${COMMIT} order by config_gen desc) filter (where is_unavailable))[1] as commit
        from (select account, config_gen, coalesce(${isUnavailable(now)}, false) as is_unavailable
          from turns where removed = 0 or account = any (${[...accounts]}::text[])) as turns
        where config_gen > ${generation}`.execute(db);
      return rows[0] ?? { newer: 0, names: [], unavailable: 0, commit: null };
    },
  };
}

/** The schedules as rows. */
function wanted(schedules: readonly DueSchedule[]) {
  const column = <T>(read: (schedule: DueSchedule) => T): T[] => schedules.map(read);
  return sql`
    select * from unnest(
      ${column(({ name }) => name)}::text[], ${column(({ lane }) => lane)}::text[],
      ${column(({ schedule }) => schedule)}::text[], ${column(({ timezone }) => timezone)}::text[],
      ${column(({ jitterMs }) => jitterMs)}::int[], ${column(({ digest }) => digest)}::text[],
      ${column(({ isBroken }) => Number(isBroken))}::int[], ${column(({ dueMs }) => dueMs)}::float8[],
      ${column(({ tickMs }) => tickMs)}::float8[])
      as wanted (account, lane, schedule, timezone, jitter_ms, config_digest, is_broken, due_ms, tick_ms)`;
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
