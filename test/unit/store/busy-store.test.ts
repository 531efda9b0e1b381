// Methods of several transactions, while another program locks the store between two of them.
import { expect, it } from 'vitest';
import { SQLite } from '../../../src/system/sqlite.ts';
import type { SqliteFixture } from './fixture.ts';
import { costly } from '../../support/thorough.ts';
import { DAY_MS, sqliteFixture, listed, operation, T0 } from './fixture.ts';

const RETENTION = 90 * DAY_MS;
const LOCKED_MS = 300;

const count = (store: SqliteFixture, table: string): number =>
  store.rows<{ n: number }>(`select count(*) as n from ${table}`)[0]?.n ?? 0;

/** Locks the store for a moment as soon as the condition holds. Resolves when it has unlocked it. */
async function lockOnce(store: SqliteFixture, condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
  const other = new SQLite(store.file);
  try {
    other.exec('begin immediate');
    await new Promise((resolve) => setTimeout(resolve, LOCKED_MS));
  } finally {
    other.close();
  }
}

it('operations are completed after a lock when some of them are already written', async () => {
  const store = sqliteFixture();
  const id = await store.begin(1);
  const many = Array.from({ length: 9000 }, (_, number) => operation({ name: `Skill ${String(number)}` }));
  const [, written] = await Promise.all([
    lockOnce(store, () => count(store, 'operations') > 0),
    store.journal.addOperations(id, many).then(() => count(store, 'operations')),
  ]);
  expect(written).toBe(many.length);
  expect(store.rows('select min(seq) as first, max(seq) as last from operations')).toEqual([
    { first: 1, last: many.length },
  ]);
});

it('pruning continues after a lock', async () => {
  const store = sqliteFixture();
  for (let n = 1; n <= 100; n += 1) {
    const id = await store.begin(n, { atMs: T0 + n });
    await store.record(id, { skill: [listed(`s${String(n)}`, `S${String(n)}`)] }, { takenAtMs: T0 + n });
    await store.end(id);
  }
  const [, pruned] = await Promise.all([
    lockOnce(store, () => count(store, 'runs') < 100),
    store.prune(RETENTION, T0 + 1000 * DAY_MS),
  ]);
  expect(count(store, 'runs')).toBe(1);
  expect(pruned).toMatchObject({ runs: 99, snapshots: 297 });
});

it('a large run is ended after a lock, with each of its operations', async () => {
  const store = sqliteFixture();
  const id = await store.begin(1);
  const many = Array.from({ length: 11_000 }, (_, number) => operation({ name: `Skill ${String(number)}` }));
  await store.journal.addOperations(id, many);
  const skipped = "operations where status = 'skipped'";
  const [, isEnded] = await Promise.all([
    lockOnce(store, () => count(store, skipped) > 0),
    store.end(id, 'interrupted'),
  ]);
  expect([isEnded, count(store, skipped)]).toEqual([true, many.length]);
});

costly('an approval waits for a lock for a few seconds only', async () => {
  const store = sqliteFixture();
  const other = new SQLite(store.file);
  try {
    other.exec('begin immediate');
    await expect(
      store.operator.operate({ action: 'approve', account: 'acme' }, { name: 'sam', via: 'cli' }, T0),
    ).rejects.toMatchObject({ code: 'store_busy' });
    await expect(store.check()).rejects.toMatchObject({ code: 'store_busy' });
  } finally {
    other.close();
  }
});
