// What processes notice of a database that was replaced by another one, or that no longer answers.
import { connect, createServer, type Socket } from 'node:net';
import { sql } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openPostgres } from '../../../../src/store/postgres/database.ts';
import { createStore } from '../../../../src/store/store.ts';
import { hasPostgres, ownPostgres } from '../../../support/postgres.ts';
import { makeFolder } from '../../../support/folder.ts';
import { isThorough } from '../../../support/thorough.ts';
import { engineOfTests, freshLocation, operation, postgresFixture, runId, T0 } from '../fixture.ts';

const LEASE_MS = 4000;

/** A way to the database that can stop forwarding, as a machine that lost its network. Returns its address. */
async function frozenOnDemand(): Promise<{ readonly url: string; readonly freeze: () => void }> {
  const cluster = await ownPostgres();
  const folder = makeFolder();
  const sockets: Socket[] = [];
  let isFrozen = false;
  const server = createServer((client) => {
    const upstream = connect(`${cluster.socket}/.s.PGSQL.5432`);
    sockets.push(client, upstream);
    for (const socket of [client, upstream]) socket.on('error', () => undefined);
    client.on('data', (bytes) => isFrozen || upstream.write(bytes));
    upstream.on('data', (bytes) => isFrozen || client.write(bytes));
  });
  await new Promise<void>((resolve) => server.listen(`${folder}/.s.PGSQL.5432`, resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { url: `postgres:///postgres?host=${folder}&user=rolecall`, freeze: () => void (isFrozen = true) };
}

describe.skipIf(!hasPostgres)('a database in PostgreSQL', () => {
  it('that failed over ends the runs of its predecessor, makes what they sent doubtful, and delays creates', async () => {
    const location = await freshLocation();
    const before = await postgresFixture(location);
    const lease = await before.take(runId(1));
    const run = await before.begin(1);
    await before.journal.addOperations(run, [operation({ name: 'Sent' }), operation({ name: 'Pending' })]);
    await before.journal.commitOperations(run, lease, [{ seq: 1, atMs: T0 }], []);

    const replaced = { ...engineOfTests(location), timeline: sql<string>`'0000002A'` };
    const after = createStore(await openPostgres(location, {}, replaced));
    onTestFinished(() => after.close());
    // The process that began the run sees the other database too, and commits nothing more.
    expect(await after.journal.commitOperations(run, lease, [{ seq: 2, atMs: T0 }], [])).toBe('lock_lost');
    const laterMs = T0 + 60_000;
    const taken = await after.locks.acquire('acme', runId(2), null, laterMs);
    expect(taken).toMatchObject({ lease: { sinceFailoverMs: 0 } });
    expect(before.rows('select name, status from operations order by seq')).toEqual([
      { name: 'Sent', status: 'unknown' },
      // The commit that marked it as sent may be lost.
      { name: 'Pending', status: 'unknown' },
    ]);
    expect(before.rows('select status from runs where id = $1', run)).toEqual([{ status: 'interrupted' }]);
    const next = await after.locks.acquire('beta', runId(3), null, laterMs + 5000);
    expect(next).toMatchObject({ lease: { sinceFailoverMs: 5000 } });
  });

  it('whose connections die silently delays nothing that decides about writing by more than a quarter of the lease', async () => {
    const { url, freeze } = await frozenOnDemand();
    const opened = await openPostgres({ url, schema: 'rolecall', pool: 2, leaseMs: LEASE_MS });
    const store = createStore(opened);
    onTestFinished(() => {
      store.close().catch(() => undefined);
    });
    expect(await store.locks.lead('epoch', Date.now())).toBe(true);
    await store.locks.renew(Date.now());
    freeze();
    const took = async (work: () => Promise<unknown>): Promise<number> => {
      const startedMs = performance.now();
      await expect(work()).rejects.toMatchObject({ code: 'store_unavailable' });
      return performance.now() - startedMs;
    };
    const { locks } = store;
    for (const work of [
      () => locks.renew(Date.now()),
      () => locks.leader(Date.now()),
      () => locks.lead('next', Date.now()),
    ]) {
      const ms = await took(work);
      // A busy machine is slower by itself.
      if (isThorough) expect(ms).toBeLessThan(LEASE_MS / 4 + 500);
    }
  });
});

it.skipIf(!hasPostgres)('a pause of all accounts ends for every replica at the same time', async () => {
  const HOUR_MS = 3_600_000;
  const store = createStore(await openPostgres(await freshLocation(), {}));
  onTestFinished(() => store.close());
  const pausing = { reason: 'x', onlyDeletes: false, forMs: HOUR_MS };
  const pause = await store.operator.pauseAll(pausing, { name: 'sam', via: 'cli' }, Date.now() - 9 * HOUR_MS);
  expect(Math.abs(pause.sinceMs - Date.now())).toBeLessThan(HOUR_MS / 2);
  expect(await store.reader.pauseOfAll(Date.now() + 9 * HOUR_MS)).toEqual(pause);
});
