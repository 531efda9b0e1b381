// The check of all pages of a store.
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openSqliteStore } from '../../../src/store/sqlite/open-sqlite-store.ts';
import { damageTable } from '../../support/damage.ts';
import { sqliteFixture, newFolder, T0 } from './fixture.ts';

async function damagedStore() {
  const file = join(newFolder(), 'a store.db');
  await openSqliteStore(file).close();
  damageTable(file, 'plan_bodies');
  const store = openSqliteStore(file);
  onTestFinished(() => store.close());
  return { file, store };
}

describe('the check of all pages', () => {
  it('succeeds for an undamaged store, also while it is written', async () => {
    const store = sqliteFixture();
    await store.begin(1);
    await expect(store.verify()).resolves.toBeUndefined();
    await store.begin(2);
  });

  it('detects damage, and its error contains the commands to recover', async () => {
    const { file, store } = await damagedStore();
    await expect(store.verify()).rejects.toMatchObject({
      code: 'store_corrupt',
      message: expect.stringContaining(
        `mkdir '${file}.damaged'; mv '${file}' '${file}'-* '${file}.damaged'/; cp BACKUP '${file}'`,
      ) as string,
    });
  });

  it('makes every later call fail after it found damage', async () => {
    const { store } = await damagedStore();
    await store.check();
    await store.verify().catch(() => undefined);
    await expect(store.check()).rejects.toMatchObject({ code: 'store_corrupt' });
    await expect(store.journal.accountState('acme')).rejects.toMatchObject({ code: 'store_corrupt' });
    await expect(store.prune({ runsMs: 0, snapshotsMs: 0, keepAtLeast: 0 }, T0)).rejects.toMatchObject({
      code: 'store_corrupt',
    });
  });

  it('reports no damage when it is aborted, and later calls work', async () => {
    const { store } = await damagedStore();
    const stop = new AbortController();
    stop.abort();
    await expect(store.verify(stop.signal)).rejects.toMatchObject({ code: 'store_unchecked' });
    await store.check();
  });
});
