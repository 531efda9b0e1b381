// What happens to a transaction when its connection or the database ends, and when two transactions wait for each other.
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { openPostgres } from '../../../../src/store/postgres/database.ts';
import type { PostgresLocation } from '../../../../src/store/postgres/postgres-errors.ts';
import type { Database } from '../../../../src/store/tables.ts';
import { whileBusy } from '../../../../src/store/store.ts';
import { immediately } from '../../../../src/store/engine.ts';
import { hasPostgres, ownPostgres, queryPostgres, terminateConnections } from '../../../support/postgres.ts';
import { freshLocation } from '../fixture.ts';
import { costly } from '../../../support/thorough.ts';

async function open(location: PostgresLocation) {
  const opened = await openPostgres(location, {});
  onTestFinished(() => opened.close());
  return opened;
}

const add = (connection: Database, name: string) =>
  connection.insertInto('accounts').values({ name }).execute();

const names = async ({ url, schema }: PostgresLocation) =>
  (await queryPostgres(url, `select name from ${schema}.accounts order by name`)).map(({ name }) => name);

/** A transaction, repeated as the store repeats its methods. */
const repeatedly = (db: Database, key: string, work: (connection: Database) => Promise<void>) =>
  whileBusy({ db }, 30_000, () => immediately(db, key, work));

const backendOf = async (db: Database) =>
  (await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db)).rows[0]?.pid;

describe.skipIf(!hasPostgres)('a transaction in PostgreSQL', () => {
  afterEach(() => vi.useRealTimers());

  it('whose connection breaks before its commit is repeated, on another connection', async () => {
    const location = await freshLocation();
    const { db } = await open({ ...location, pool: 1 });
    const backends: (number | undefined)[] = [];
    await repeatedly(db, 'acme', async (connection) => {
      backends.push(await backendOf(connection));
      await add(connection, 'acme');
      if (backends.length === 1) expect(await terminateConnections(location.url)).toBe(1);
      await add(connection, 'beta');
    });
    expect(await names(location)).toEqual(['acme', 'beta']);
    expect(new Set(backends).size).toBe(2);
  });

  it('whose connection breaks during its commit is not repeated, since it may have been committed', async () => {
    const location = await freshLocation();
    const opened = await open(location);
    await queryPostgres(
      location.url,
      `create function ${location.schema}.die() returns trigger language plpgsql as $$
         begin perform pg_terminate_backend(pg_backend_pid()); return null; end $$;
       create constraint trigger die after insert on ${location.schema}.accounts
         deferrable initially deferred for each row execute function ${location.schema}.die()`,
    );
    let attempts = 0;
    const work = repeatedly(opened.db, 'acme', async (connection) => {
      attempts += 1;
      await add(connection, 'acme');
    });
    const error = opened.toStoreError(await work.catch((reason: unknown) => reason));
    expect(error).toMatchObject({ name: 'StoreError', code: 'store_unavailable' });
    expect(attempts).toBe(1);
  });

  costly('during which the database restarts is repeated when the database is back', async () => {
    const cluster = await ownPostgres();
    const location = { url: cluster.url, schema: 'rolecall', pool: 2, leaseMs: 30_000 };
    const { db } = await open(location);
    let attempts = 0;
    let restarted: Promise<void> | undefined;
    await repeatedly(db, 'acme', async (connection) => {
      attempts += 1;
      await add(connection, 'acme');
      if (attempts > 1) return;
      await cluster.stop();
      restarted = delay(300).then(() => cluster.start());
    });
    await restarted;
    expect(attempts).toBe(2);
    expect(await names(location)).toEqual(['acme']);
  });

  it('that waits for another one that waits for it is repeated', async () => {
    const location = await freshLocation();
    const { db } = await open(location);
    for (const name of ['acme', 'beta']) await add(db, name);
    let attempts = 0;
    let arrived = 0;
    const pause = (connection: Database, name: string) =>
      connection.updateTable('accounts').set({ paused: 1 }).where('name', '=', name).execute();
    const both = async (first: string, second: string): Promise<void> =>
      repeatedly(db, first, async (connection) => {
        attempts += 1;
        await pause(connection, first);
        arrived += 1;
        await vi.waitUntil(() => arrived >= 2, 60_000);
        await pause(connection, second);
      });
    await Promise.all([both('acme', 'beta'), both('beta', 'acme')]);
    expect(attempts).toBe(3);
  });

  it('never receives the answer to a query of another one that was given up', async () => {
    const { db } = await open({ ...(await freshLocation()), pool: 1 });
    const before = await backendOf(db);
    await db.connection().execute(async (connection) => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      const slow = sql`select pg_sleep(1), 'slow' as answer`.execute(connection);
      const isGivenUp = expect(slow).rejects.toThrow('Query read timeout');
      await vi.waitUntil(() => vi.getTimerCount() > 0, 60_000);
      vi.advanceTimersByTime(40_000);
      await isGivenUp;
    });
    vi.useRealTimers();
    const { rows } = await sql`select 'quick' as answer, pg_backend_pid() <> ${before} as is_other`.execute(
      db,
    );
    expect(rows).toEqual([{ answer: 'quick', is_other: true }]);
  });
});
