// What makes accounts due in PostgreSQL besides their ticks, and what the pages show of their turns.
import { sql } from 'kysely';
import type { TurnStore } from '../../core/turn-store.ts';
import { machineOf } from '../process-identity.ts';
import type { TurnState } from '../../core/turns.ts';
import {
  COMMIT,
  hasConfiguration,
  isLine,
  isUnavailable,
  type LineRow,
  lineOf,
  moment,
  ms,
  notify,
  type TurnContext,
} from './turn-columns.ts';

export function turnRequests({
  db,
  now,
}: TurnContext): Pick<
  TurnStore,
  'hasPredecessor' | 'startAll' | 'sync' | 'approve' | 'recovered' | 'endBackoff'
> {
  return {
    async hasPredecessor(id) {
      const { rows } = await sql`
        select 1 from replicas as own join replicas as other
          on (other.started_at, other.id) < (own.started_at, own.id)
        where own.id = ${id} and other.is_dead = 0 and other.expires_at > ${now}
          and other.config_commit is not null limit 1`.execute(db);
      return rows.length > 0;
    },

    async startAll() {
      await sql`
        update turns set due_at = least(due_at, ${now}), requested = coalesce(requested, 'start')
        where removed = 0 and holder is null`.execute(db);
    },

    async sync(account) {
      const { rows } = await sql`
        with requested as (
          update turns set due_at = least(due_at, ${now}), requested = 'manual'
          where account = ${account} and removed = 0 returning account)
        select ${notify('turn')} from requested`.execute(db);
      return rows.length > 0;
    },

    async approve(account, givenAt) {
      const { rows } = await sql`
        with requested as (
          update turns set due_at = least(due_at, ${now}), requested = coalesce(requested, 'approval'),
            approved_at = ${givenAt}
          where account = ${account} and removed = 0 and holder is null and approved_at is distinct from ${givenAt}
          returning account)
        select ${notify('turn')} from requested`.execute(db);
      return rows.length > 0;
    },

    async recovered() {
      const { rows } = await sql<LineRow & { account: string }>`
        select turns.account, schedule, timezone, jitter_ms
        from turns join accounts on accounts.name = turns.account join runs on runs.id = accounts.last_run_id
        where backoff_until > ${now} and holder is null and consecutive_failures = 0
          and runs.started_at::timestamptz > last_tick_at`.execute(db);
      return rows.map(({ account, ...line }) => ({ account, line: lineOf(line) }));
    },

    async endBackoff(account, line, next) {
      await sql`
        update turns set backoff_until = null, due_at = least(due_at, ${moment(next.dueMs)}),
          tick_at = least(tick_at, ${moment(next.tickMs)})
        where account = ${account} and removed = 0 and holder is null and backoff_until is not null
          and ${isLine(line)}`.execute(db);
    },
  };
}

interface StateRow {
  readonly account: string;
  readonly activity: TurnState['activity'];
  readonly due_ms: number | null;
  readonly backoff_ms: number | null;
  readonly waits_for: string | null;
  readonly is_left_out: boolean;
  readonly holder: string | null;
  readonly host: string | null;
  readonly pid: number | null;
}

function replicaOf({ holder, host, pid }: Pick<StateRow, 'holder' | 'host' | 'pid'>): TurnState['replica'] {
  return holder === null || host === null || pid === null ? null : { id: holder, host: machineOf(host), pid };
}

export function turnStates({ db, now }: TurnContext): Pick<TurnStore, 'states' | 'active' | 'stored'> {
  const isWaiting = sql`coalesce(${isUnavailable(now)}, false)`;
  // What waits for a commit is due, but no place that becomes free starts it.
  const isQueued = sql`holder is null and due_at <= ${now} and not ${isWaiting}`;
  const activity = sql`case when holder is not null then 'running' when ${isQueued} then 'queued' else 'idle' end`;
  return {
    async states(accounts) {
      const { rows } = await sql<StateRow>`
        select wanted.account, ${activity} as activity, case when not ${isWaiting} then ${ms(sql`due_at`)} end as due_ms,
          case when backoff_until > ${now} then ${ms(sql`backoff_until`)} end as backoff_ms,
          case when ${isWaiting} then ${COMMIT} end as waits_for,
          turns.account is null or removed = 1 as is_left_out, holder, replicas.host, replicas.pid
        from unnest(${[...accounts]}::text[]) as wanted (account)
          left join turns on turns.account = wanted.account left join replicas on replicas.id = turns.holder
        where removed = 0 or ${hasConfiguration(now)}`.execute(db);
      return new Map(
        rows.map(({ account, ...row }) => [
          account,
          {
            activity: row.activity,
            nextRunMs: row.due_ms,
            backoffUntilMs: row.backoff_ms,
            waitsForCommit: row.waits_for,
            isLeftOut: row.is_left_out,
            replica: replicaOf(row),
          },
        ]),
      );
    },

    async active() {
      const { rows } = await sql<{ account: string; activity: 'running' | 'queued' }>`
        select account, ${activity} as activity from turns
        where removed = 0 and (holder is not null or ${isQueued})`.execute(db);
      return new Map(rows.map((row) => [row.account, row.activity]));
    },

    async stored() {
      const { rows } = await sql<{ account: string; lane: string; due_ms: number | null }>`
        select account, lane, ${ms(sql`due_at`)} as due_ms from turns where removed = 0 order by account`.execute(
        db,
      );
      return {
        accounts: rows.map(({ account }) => account),
        nextRuns: new Map(
          rows.flatMap(({ account, due_ms: dueMs }) => (dueMs === null ? [] : [[account, dueMs]])),
        ),
        lanes: new Set(rows.map(({ lane }) => lane)),
      };
    },
  };
}
