// The explanation of errors of SQLite and of the file system.
import { SQLite } from '../../../src/system/sqlite.ts';
import { expect, it } from 'vitest';
import { otherVersion } from '../../../src/store/creation.ts';
import { SCHEMA_VERSION } from '../../../src/store/tables.ts';
import { toStoreError } from '../../../src/store/sqlite/sqlite-errors.ts';

it.each(['SQLITE_FULL', 'SQLITE_IOERR_SHMSIZE'])('%s is explained as a full disk', (code) => {
  const error = toStoreError(new SQLite.SqliteError('disk I/O error', code), '/data/x.db');
  expect(error).toMatchObject({
    code: 'store_full',
    message: expect.stringContaining('free some space') as string,
  });
});

it('a store of another version is refused with the version to use', () => {
  const of = (version: number) => [otherVersion('x.db', version).code, otherVersion('x.db', version).message];
  expect(of(SCHEMA_VERSION - 1)).toEqual([
    'store_earlier',
    expect.stringContaining('by an earlier rolecall'),
  ]);
  expect(of(SCHEMA_VERSION + 1)).toEqual(['store_newer', expect.stringContaining('by a newer rolecall')]);
});
