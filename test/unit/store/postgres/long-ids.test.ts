// Ids of the service that are as long as rolecall accepts them, and longer than an index of PostgreSQL can hold.
import { describe, expect, it } from 'vitest';
import { hasPostgres } from '../../../support/postgres.ts';
import { listed, postgresFixture } from '../fixture.ts';

/** Text that does not compress: 1,000 characters of `bytes` bytes each. */
function longText(bytes: 1 | 3): string {
  const first = bytes === 1 ? 0x21 : 0x4e00;
  const count = bytes === 1 ? 90 : 20_000;
  return Array.from({ length: 1000 }, (_, n) => String.fromCodePoint(first + ((n * n * 7919) % count))).join(
    '',
  );
}

describe.skipIf(!hasPostgres)('an id of 1,000 characters', () => {
  it('is stored in PostgreSQL when it has as many bytes', async () => {
    const store = await postgresFixture();
    const id = longText(1);
    await store.record(await store.begin(1), { skill: [listed(id, longText(3))] });
    expect(store.rows('select remote_id from entries')).toEqual([{ remote_id: id }]);
  });

  it('fails with the reason when it is too long for an index', async () => {
    const store = await postgresFixture();
    const work = store.record(await store.begin(1), { skill: [listed(longText(3), 'A')] });
    await expect(work).rejects.toMatchObject({
      code: 'store_failed',
      message: expect.stringContaining('an id of the service is longer than an index of PostgreSQL can hold'),
    });
    expect(store.rows('select 1 from snapshots')).toEqual([]);
  });
});
