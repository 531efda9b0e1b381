// What a replica needs in the database to begin a run, and to claim accounts again after it was refused.
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ClaimedTurn, TurnStore } from '../../../../src/core/turn-store.ts';
import { openPostgresStore } from '../../../../src/store/postgres/open-postgres-store.ts';
import { freshPostgres, hasPostgres, type PostgresPlace, queryPostgres } from '../../../support/postgres.ts';
import { runId, T0 } from '../fixture.ts';

const LEASE_MS = 60_000;

async function opened({ url, schema }: PostgresPlace) {
  const store = await openPostgresStore({ url, schema, pool: 4, leaseMs: LEASE_MS });
  onTestFinished(() => store.close());
  if (store.turns === null) throw new Error('a PostgreSQL store has turns');
  return { ...store, turns: store.turns };
}

async function claimed(turns: TurnStore, id: string): Promise<ClaimedTurn> {
  const line = { schedule: '* * * * *', timezone: 'Etc/UTC', jitterMs: 0 };
  const account = { ...line, name: 'acme', lane: '', revision: '', digest: '', isBroken: false };
  const due = { ...account, dueMs: T0, tickMs: T0, backoffUntilMs: null };
  const own = { generation: 0, isNewest: true, commit: null, digest: '', flaws: 0 };
  await turns.register(id, 'test', LEASE_MS);
  await turns.update(id, await turns.situation(id), own, [due]);
  const rooms = [{ lane: '', room: 1 }];
  const [turn] = (await turns.claim(id, 0, rooms, { most: 1, except: [] })).turns;
  if (turn === undefined) throw new Error('nothing was claimed');
  return turn;
}

describe.skipIf(!hasPostgres)('a replica', () => {
  it('begins no run of a turn that was taken from it', async () => {
    const { journal, turns } = await opened(await freshPostgres());
    const begin = (index: number, replica: string, { epoch }: ClaimedTurn) =>
      journal.beginRun(
        {
          id: runId(index),
          account: 'acme',
          trigger: 'schedule',
          mode: 'plan',
          startedAtMs: T0,
          configDigest: null,
          configCommit: null,
        },
        { lease: undefined, permit: { type: 'turn', replica, epoch }, nowMs: () => T0 },
      );
    const first = await claimed(turns, 'one');
    await begin(1, 'one', first);
    await turns.retire('one');
    await expect(begin(2, 'one', first)).rejects.toMatchObject({ code: 'run_made' });
    const second = await claimed(turns, 'two');
    await expect(begin(3, 'two', first)).rejects.toMatchObject({ code: 'run_made' });
    await expect(begin(4, 'two', second)).resolves.toBeUndefined();
  });

  it('is refused by a database that it may not write, and accepted again', async () => {
    const place = await freshPostgres();
    const { turns } = await opened(place);
    await expect(turns.probe()).resolves.toBeUndefined();
    const [row] = await queryPostgres(place.url, 'select current_database() as name');
    const database = `alter database ${String(row?.['name'])}`;
    await queryPostgres(place.url, `${database} set default_transaction_read_only = on`);
    try {
      // The connections of the pool are older than the setting, so they can still write.
      await expect(turns.sync('acme')).resolves.toBe(false);
      await expect(turns.probe()).rejects.toMatchObject({ code: 'store_readonly' });
    } finally {
      const reset = `begin read write; ${database} reset default_transaction_read_only; commit`;
      await queryPostgres(place.url, reset);
    }
    await expect(turns.probe()).resolves.toBeUndefined();
  });
});
