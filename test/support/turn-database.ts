// The turns on PostgreSQL for tests: a schema of their own, with a clock that the test sets.
import { Kysely, PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import { onTestFinished } from 'vitest';
import type { ConfigCommit } from '../../src/core/settings.ts';
import type { TurnStore } from '../../src/core/turn-store.ts';
import { setEngine } from '../../src/store/engine.ts';
import { postgresEngine } from '../../src/store/postgres/postgres-engine.ts';
import { createTurnStore } from '../../src/store/postgres/turn-store.ts';
import { TURN_TABLES } from '../../src/store/postgres/turn-tables.ts';
import type { Tables } from '../../src/store/tables.ts';
import { freshPostgres } from './postgres.ts';

export interface TurnDatabase {
  readonly store: TurnStore;
  query<T>(statement: string): Promise<readonly T[]>;
  /** Sets the clock; it stands still in between. */
  setClock(epochMs: number): Promise<void>;
}

/** The columns of the other tables that the turns read. */
const OTHERS = `
  create table accounts (name text primary key, consecutive_failures integer not null default 0, last_run_id text);
  create table runs (id text, account text, status text, mode text, trigger text, started_at text);
  create table clock (now timestamptz not null);
  insert into clock values (now());
`;

/** `now` is the clock of the turns; by default it changes only when the test sets it. */
export async function turnDatabase(now = sql`(select now from clock)`): Promise<TurnDatabase> {
  const { url, schema } = await freshPostgres();
  const pool = new pg.Pool({ connectionString: url, options: `-c search_path=${schema}` });
  await pool.query(`create schema ${schema}; ${TURN_TABLES} ${OTHERS}`);
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  setEngine(db, postgresEngine({ schema, leaseMs: 60_000 }));
  onTestFinished(() => db.destroy());
  const connections = { listen: async () => async () => undefined, probe: async () => undefined };
  return {
    store: createTurnStore(db, connections, now),
    query: async <T>(statement: string) => (await sql.raw<T>(statement).execute(db)).rows,
    async setClock(epochMs) {
      await sql`update clock set now = to_timestamp(${epochMs}::float8 / 1000)`.execute(db);
    },
  };
}

/** A commit of the configuration; a number is its place in one line of history. */
export function configCommit(sha: string, dirty = false): ConfigCommit {
  const committedAt = `2026-01-${sha.padStart(2, '0')}T00:00:00Z`;
  return { sha, committedAt, dirty, authoredAt: committedAt, subject: '' };
}
