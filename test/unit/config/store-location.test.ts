// The location that a process opens, and its name in messages.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { openLocation, storeName } from '../../../src/config/store-location.ts';
import { makeFolder } from '../../support/folder.ts';

import { API } from '../service/loopback.ts';

const api = { ...API, timeoutMs: 30_000 };
const settings = (url: { env: string } | { file: string } | string) => ({
  store: { postgres: { url, schema: 'rolecall' } },
  api,
});

afterEach(() => vi.unstubAllEnvs());

describe('the location of the store', () => {
  it('is the SQLite file, which needs nothing else', async () => {
    expect(await openLocation({ store: { file: '/a.db' }, api })).toEqual({ file: '/a.db', leaseMs: 60_000 });
    expect(await storeName({ store: { file: '/a.db' }, api })).toBe('/a.db');
  });

  it('is the address that a variable or a file contains, and is named without its password', async () => {
    const file = join(makeFolder(), 'url');
    writeFileSync(file, 'postgres://me:s3cr3t@db.example.com/a\n');
    vi.stubEnv('ROLECALL_DATABASE_URL', 'postgres://me:s3cr3t@db.example.com/a');
    for (const ref of [{ file }, { env: 'ROLECALL_DATABASE_URL' }]) {
      expect(await openLocation(settings(ref))).toEqual({
        url: 'postgres://me:s3cr3t@db.example.com/a',
        schema: 'rolecall',
        pool: 10,
        leaseMs: 60_000,
      });
      expect(await storeName(settings(ref))).toBe('PostgreSQL db.example.com/a, schema rolecall');
    }
  });

  it('is refused without its value when that is missing or is not an address', async () => {
    vi.stubEnv('ROLECALL_DATABASE_URL', 'mysql://me:s3cr3t@db/a');
    await expect(openLocation(settings({ env: 'ROLECALL_DATABASE_URL' }))).rejects.toThrow(
      /^store\.postgres\.url: the environment variable ROLECALL_DATABASE_URL can't be used: it is not the address of a database; write it as [^3]*$/u,
    );
    await expect(openLocation(settings({ env: 'NO_SUCH_URL' }))).rejects.toThrow('NO_SUCH_URL is not set');
    expect(await storeName(settings({ env: 'NO_SUCH_URL' }))).toBe('PostgreSQL, schema rolecall');
  });
});
