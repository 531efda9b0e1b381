// The turns of accounts in PostgreSQL: claims, ends and requests. Each is one statement, so that a process that is stopped
// in between leaves no open transaction.
import { type RawBuilder, sql } from 'kysely';
import type { Trigger } from '../../core/journal.ts';
import type { ClaimedTurn, TurnStore } from '../../core/turn-store.ts';
import { LOCKED_MS } from '../../core/turns.ts';
import { freed, isLine, type LineRow, lineOf, moment, ms, type TurnContext } from './turn-columns.ts';

interface ClaimedRow extends LineRow {
  readonly account: string | null;
  readonly lane: string;
  readonly epoch: string;
  readonly requested: Trigger | null;
  readonly tick_ms: number | null;
  readonly last_tick_ms: number;
  readonly failures: number;
  readonly now_ms: number;
  readonly next_ms: number | null;
}

/** The methods of a replica with the turns that it holds. */
export function claimedTurns({
  db,
  now,
}: TurnContext): Pick<TurnStore, 'claim' | 'isCurrent' | 'end' | 'release' | 'releaseOthers'> {
  /** A request that comes meanwhile is joined: the run that follows serves it too. */
  async function postpone(id: string, turn: ClaimedTurn): Promise<void> {
    await sql`
      update turns set holder = null, held_for = null, claimed_due_at = null,
        requested = coalesce(requested, held_for),
        due_at = case when removed = 0 then ${now} + ${LOCKED_MS}::float8 * interval '1 millisecond' end
      where ${isHeldBy(id, turn)}`.execute(db);
  }

  return {
    async claim(id, generation, rooms, { most, except }) {
      const lanes = rooms.map(({ lane }) => lane);
      const { rows } = await sql<ClaimedRow>`
        with rooms as (
          select * from unnest(${lanes}::text[], ${rooms.map(({ room }) => room)}::int[]) as rooms (lane, room)
        ), picked as materialized (
          select found.* from rooms cross join lateral (
            select account, requested, tick_at, due_at from turns
            where lane = rooms.lane and holder is null and due_at <= ${now} and removed = 0
              and config_gen <= ${generation} and account <> all (${[...except]}::text[])
              and exists (select 1 from replicas where id = ${id} and is_dead = 0 and expires_at > ${now})
            order by due_at, account limit rooms.room for update skip locked) as found
          limit ${most}
        ), claimed as (
          update turns set holder = ${id}, epoch = nextval('turn_epochs'), due_at = null, requested = null,
            held_for = picked.requested, claimed_due_at = picked.due_at,
            last_tick_at = case when picked.tick_at <= ${now} then picked.tick_at else last_tick_at end
          from picked where turns.account = picked.account
          returning turns.account, turns.lane, turns.epoch, picked.requested, picked.tick_at, last_tick_at, schedule, timezone,
            jitter_ms
        ), next as (
          select min(soonest.due_at) as due_at from rooms cross join lateral (
            select due_at from turns
            where lane = rooms.lane and holder is null and due_at > ${now}
            order by due_at limit 1) as soonest
        )
        select account, claimed.lane, epoch::text, requested, ${ms(sql`tick_at`)} as tick_ms, ${ms(sql`last_tick_at`)} as last_tick_ms,
          schedule, timezone, jitter_ms,
          coalesce((select consecutive_failures from accounts where name = account), 0) as failures,
          ${ms(now)} as now_ms, ${ms(sql`next.due_at`)} as next_ms
        from next left join claimed on true`.execute(db);
      const [first] = rows;
      return {
        nowMs: first?.now_ms ?? 0,
        nextDueMs: first?.next_ms ?? null,
        turns: rows.flatMap(({ account, ...row }): ClaimedTurn[] =>
          account === null
            ? []
            : [
                {
                  account,
                  lane: row.lane,
                  epoch: row.epoch,
                  requested: row.requested,
                  tickMs: row.tick_ms,
                  lastTickMs: row.last_tick_ms,
                  failures: row.failures,
                  line: lineOf(row),
                  atMs: row.now_ms,
                },
              ],
        ),
      };
    },

    async isCurrent(id, turn, generation) {
      const { rows } = await sql`
        select 1 from turns join replicas on replicas.id = turns.holder
        where ${isHeldBy(id, turn)} and removed = 0 and turns.config_gen <= ${generation}
          and is_dead = 0 and expires_at > ${now}`.execute(db);
      return rows.length > 0;
    },

    async end(id, turn, next) {
      const { rows } = await sql`
        update turns set holder = null, held_for = null, claimed_due_at = null, tick_at = ${moment(next.tickMs)},
          backoff_until = ${moment(next.backoffUntilMs)},
          due_at = case when removed = 0 then coalesce(due_at, ${moment(next.dueMs)}) end
        where ${isHeldBy(id, turn)} and ${isLine(turn.line)}
        returning 1`.execute(db);
      if (rows.length > 0) return null;
      const found = await sql<LineRow>`
        select schedule, timezone, jitter_ms from turns where ${isHeldBy(id, turn)}`.execute(db);
      const [row] = found.rows;
      return row === undefined ? null : lineOf(row);
    },

    async release(id, turn, why) {
      if (why === 'locked') return await postpone(id, turn);
      const other = why === 'interrupted' ? sql`'start'` : sql`held_for`;
      await sql`update turns set ${freed(now, other)} where ${isHeldBy(id, turn)}`.execute(db);
    },

    async releaseOthers(id, accounts) {
      await sql`
        update turns set ${freed(now, sql`held_for`)}
        where holder = ${id} and account <> all (${[...accounts]}::text[])`.execute(db);
    },
  };
}

function isHeldBy(id: string, { account, epoch }: ClaimedTurn): RawBuilder<unknown> {
  return sql`account = ${account} and epoch = ${epoch}::bigint and holder = ${id}`;
}
