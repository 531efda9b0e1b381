// The delete of large runs in several transactions.
import { expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../../../src/store/sqlite/database.ts';
import { deleteLargeOperations } from '../../../src/store/small-transactions.ts';
import { sqliteFixture, operation } from './fixture.ts';

const MANY = Array.from({ length: 7000 }, (_, number) => operation({ name: `Skill ${String(number)}` }));

it('the operations of a large run are deleted before it, whatever an earlier pruning has deleted', async () => {
  const store = sqliteFixture();
  const [large, small] = [await store.begin(1), await store.begin(2)];
  await store.journal.addOperations(large, MANY);
  await store.journal.addOperations(small, MANY.slice(0, 10));
  store.execute('delete from operations where run_id = ? and seq <= 5000', large);
  const db = openDatabase(store.file);
  onTestFinished(() => db.destroy());
  await deleteLargeOperations(db, [large, small]);
  expect(store.rows('select run_id, count(*) as n from operations group by 1')).toEqual([
    { run_id: small, n: 10 },
  ]);
});
