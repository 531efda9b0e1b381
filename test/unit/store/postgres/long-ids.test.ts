// Ids of the service that are as long as rolecall accepts them, and longer than an index of PostgreSQL can hold.
import { describe, expect, it } from 'vitest';
import { hasPostgres } from '../../../support/postgres.ts';
import { listed, operation, postgresFixture } from '../fixture.ts';

const CHARACTERS = { 1: [0x21, 90], 3: [0x4e00, 20_000], 4: [0x2_0000, 40_000] } as const;

/** Text that does not compress: 1,000 characters of `bytes` bytes each. */
function longText(bytes: 1 | 3 | 4): string {
  const [first, count] = CHARACTERS[bytes];
  return Array.from({ length: 1000 }, (_, n) => String.fromCodePoint(first + ((n * n * 7919) % count))).join(
    '',
  );
}

describe.skipIf(!hasPostgres)('an id of 1,000 characters', () => {
  it('is stored in PostgreSQL when it has as many bytes, with a name of four times as many', async () => {
    const store = await postgresFixture();
    const id = longText(1);
    const name = longText(4);
    const run = await store.begin(1);
    await store.record(run, { skill: [listed(id, name)] });
    await store.journal.addOperations(run, [operation({ name })]);
    expect(store.rows('select remote_id, name from entries')).toEqual([{ remote_id: id, name }]);
    expect(store.rows('select name from operations')).toEqual([{ name }]);
  });

  it('fails with the reason when it is too long for an index', async () => {
    const store = await postgresFixture();
    const work = store.record(await store.begin(1), { skill: [listed(longText(3), 'A')] });
    await expect(work).rejects.toMatchObject({
      code: 'store_failed',
      message: expect.stringMatching(/index row .*54000/),
    });
    expect(store.rows('select 1 from snapshots')).toEqual([]);
  });
});
