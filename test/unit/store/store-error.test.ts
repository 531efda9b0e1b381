// The explanation of errors of SQLite and of the file system.
import { SQLite } from '../../../src/system/sqlite.ts';
import { expect, it } from 'vitest';
import { toStoreError } from '../../../src/store/sqlite/sqlite-errors.ts';

it.each(['SQLITE_FULL', 'SQLITE_IOERR_SHMSIZE'])('%s is explained as a full disk', (code) => {
  const error = toStoreError(new SQLite.SqliteError('disk I/O error', code), '/data/x.db');
  expect(error).toMatchObject({
    code: 'store_full',
    message: expect.stringContaining('free some space') as string,
  });
});
