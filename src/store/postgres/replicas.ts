// The replicas in PostgreSQL: their leases, and what happens to the turns of one that is dead.
import { sql } from 'kysely';
import type { Beat, TurnStore } from '../../core/turn-store.ts';
import type { ReplicaRecord } from '../../core/turns.ts';
import { StoreError } from '../../core/errors.ts';
import { interruptRuns } from '../locks.ts';
import { machineOf, HOST, isDead } from '../process-identity.ts';
import type { Database } from '../tables.ts';
import { freed, ms, notify, type TurnContext } from './turn-columns.ts';

interface BeatRow {
  readonly now_ms: number;
  readonly replicas: number;
  readonly is_known: boolean;
  readonly is_first: boolean;
}

type ReplicaRow = Omit<ReplicaRecord, 'host' | 'isSelf'> & { readonly host: string };

export function replicasTable({
  db,
  now,
}: TurnContext): Pick<TurnStore, 'register' | 'beat' | 'reap' | 'retire' | 'replicas'> {
  const inLease = (leaseMs: number) => sql`${now} + ${leaseMs}::float8 * interval '1 millisecond'`;

  async function readBeat(id: string): Promise<Beat | null> {
    // A replica whose lease has expired sends nothing, but counts until it is declared dead.
    const { rows } = await sql<BeatRow>`
      select ${ms(now)} as now_ms,
        (select count(*)::int from replicas where is_dead = 0) as replicas,
        not exists (
          select 1 from replicas as other
          where other.is_dead = 0 and other.id <> own.id and other.expires_at > ${now}
            and other.beat_at < own.started_at) as is_known,
        not exists (
          select 1 from replicas as other
          where other.is_dead = 0 and other.expires_at > ${now}
            and (other.started_at, other.id) < (own.started_at, own.id)) as is_first
      from replicas as own where id = ${id} and is_dead = 0`.execute(db);
    const [row] = rows;
    return row === undefined
      ? null
      : { nowMs: row.now_ms, replicas: row.replicas, isKnown: row.is_known, isFirst: row.is_first };
  }

  /** Frees the turns of replicas that are dead. A turn that a transaction keeps locked is freed the next time. */
  async function freeTurns(): Promise<readonly string[]> {
    const { rows } = await sql<{ account: string }>`
      with abandoned as materialized (
        select account from turns
        where holder is not null
          and not exists (select 1 from replicas where id = turns.holder and is_dead = 0)
        for update skip locked)
      update turns set ${freed(now, sql`'start'`)} from abandoned where turns.account = abandoned.account
      returning turns.account`.execute(db);
    return rows.map(({ account }) => account);
  }

  async function interruptDryRuns(): Promise<void> {
    const { rows } = await sql<{ id: string }>`
      select runs.id from turns join runs on runs.account = turns.account
      where holder is not null and not exists (select 1 from replicas where id = holder and is_dead = 0)
        and runs.status = 'running' and runs.mode = 'plan' and runs.trigger <> 'cli'`.execute(db);
    await interruptRuns(
      db,
      rows.map(({ id }) => id),
      Date.now(),
    );
  }

  /** Frees what dead replicas held, and removes those that hold nothing any more. */
  async function bury(): Promise<readonly string[]> {
    await interruptDryRuns();
    const accounts = await freeTurns();
    await sql`
      delete from replicas where is_dead = 1 and not exists (select 1 from turns where holder = replicas.id)`.execute(
      db,
    );
    return accounts;
  }

  return {
    async register(id, version, leaseMs) {
      await declareDeadHere(db);
      await bury();
      await sql`
        with added as (
          insert into replicas (id, host, pid, version, started_at, beat_at, expires_at)
          values (${id}, ${HOST}, ${process.pid}, ${version}, ${now}, ${now}, ${inLease(leaseMs)})
          returning id)
        select ${notify('replica')} from added`.execute(db);
      const beat = await readBeat(id);
      if (beat === null)
        throw new StoreError('store_unavailable', 'the replica was declared dead while it registered');
      return beat;
    },

    async beat(id, leaseMs) {
      await sql`
        update replicas set beat_at = ${now}, expires_at = ${inLease(leaseMs)}
        where id = ${id} and is_dead = 0`.execute(db);
      return await readBeat(id);
    },

    async reap() {
      await sql`
        with expired as materialized (
          select id from replicas where is_dead = 0 and expires_at <= ${now} for update skip locked)
        update replicas set is_dead = 1 from expired where replicas.id = expired.id`.execute(db);
      return await bury();
    },

    async retire(id) {
      await sql`update replicas set is_dead = 1 where id = ${id}`.execute(db);
      await bury();
    },

    async replicas(selfId) {
      const { rows } = await sql<ReplicaRow>`
        select id, host, pid, version, ${ms(sql`started_at`)} as "startedMs", ${ms(sql`beat_at`)} as "beatMs",
          is_dead = 0 and expires_at > ${now} as "isAlive", nullif(config_commit, '') as commit,
          config_commit is null or config_gen = (select max(gen) from config_generations) as "hasNewest",
          (select count(*)::int from turns where holder = replicas.id) as runs
        from replicas order by started_at, id`.execute(db);
      return rows.map((row) => ({
        ...row,
        host: machineOf(row.host),
        isSelf: row.id === selfId,
      }));
    },
  };
}

/** Declares replicas of this machine dead whose process has ended: their accounts need not wait for the lease. */
async function declareDeadHere(db: Database): Promise<void> {
  const { rows } = await sql<{ id: string; host: string; pid: number }>`
    select id, host, pid from replicas where is_dead = 0 and host = ${HOST}`.execute(db);
  const dead = rows.filter(isDead).map(({ id }) => id);
  if (dead.length === 0) return;
  await sql`update replicas set is_dead = 1 where id = any (${dead}::text[])`.execute(db);
}
