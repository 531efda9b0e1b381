// A database that cannot be used is named at once, with what is wrong and what to do, and without its password.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { describe, expect, it, vi } from 'vitest';
import { StoreError } from '../../../../src/core/errors.ts';
import { openStore } from '../../../../src/store/store.ts';
import { hasPostgres, type OwnCluster, ownPostgres, queryPostgres } from '../../../support/postgres.ts';

const PASSWORD = 'pa55word-of-the-test';

const openSockets = (): number =>
  process.getActiveResourcesInfo().filter((name) => /^(PipeWrap|TCPSocketWrap)$/.test(name)).length;

/** What opening the store throws, at once. A connection that it leaves open would keep `rolecall` from ending. */
async function refusal(url: string): Promise<Pick<StoreError, 'code' | 'message'>> {
  const before = openSockets();
  const opening = openStore({ url, schema: 'rolecall', pool: 2, leaseMs: 30_000 });
  const error: unknown = await opening.then(
    (store) => store.close(),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(StoreError);
  await vi.waitUntil(() => openSockets() <= before, 60_000);
  const { code, message } = error as StoreError;
  expect(message).toMatch(/^PostgreSQL .*, schema rolecall: /);
  expect(message).not.toContain(PASSWORD);
  return { code, message };
}

/** The addresses of the cluster. */
const addresses = ({ socket }: OwnCluster) => ({
  as: (user: string, password?: string, database = 'postgres') =>
    `postgres:///${database}?host=${socket}&user=${user}${password === undefined ? '' : `&password=${password}`}`,
});

async function withPasswords(): Promise<OwnCluster> {
  const cluster = await ownPostgres({
    settings: { max_connections: '12', superuser_reserved_connections: '3' },
  });
  await queryPostgres(
    cluster.url,
    `create role limited login password '${PASSWORD}'; create role md5 login password '${PASSWORD}';
     create role plain login password '${PASSWORD}'; create role nobody login`,
  );
  await queryPostgres(
    cluster.url,
    `create database old_letters encoding 'LATIN1' locale_provider libc lc_collate 'C' lc_ctype 'C' template template0`,
  );
  writeFileSync(
    join(cluster.socket, 'data', 'pg_hba.conf'),
    'local all rolecall trust\nlocal all plain password\nlocal all limited scram-sha-256\n',
  );
  await queryPostgres(cluster.url, 'select pg_reload_conf()');
  return cluster;
}

describe.skipIf(!hasPostgres)('a database', () => {
  it('that refuses to be used is named at once, with the reason and what to do', async () => {
    const cluster = await withPasswords();
    const { as } = addresses(cluster);
    const cases: readonly (readonly [string, string, RegExp])[] = [
      [as('limited'), 'store_unopenable', /check the password, sslmode/],
      [as('limited', 'wrong'), 'store_unopenable', /password authentication failed.*; check `store:`/],
      [as('plain', 'wrong'), 'store_unopenable', /password authentication failed.*; check `store:`/],
      [as('plain'), 'store_unopenable', /password/],
      [as('nobody'), 'store_unopenable', /no pg_hba.conf entry.*; check `store:`/],
      [as('limited', PASSWORD, 'missing'), 'store_unopenable', /"missing" does not exist .*; check/],
      [as('limited', PASSWORD), 'store_readonly', /permission denied .*; .*grants of the user/],
      [as('rolecall', undefined, 'old_letters'), 'store_unopenable', /LATIN1.*encoding 'UTF8'/],
      [
        `${cluster.url}&sslmode=require&uselibpqcompat=true`,
        'store_unopenable',
        /check the password, sslmode and the certificates .*does not support SSL/,
      ],
      [cluster.url.replace(cluster.socket, '/tmp/missing'), 'store_unavailable', /not available \(ENOENT\)/],
      [`postgres://limited:${PASSWORD}@127.0.0.1:1/a`, 'store_unavailable', /not available \(ECONNREFUSED\)/],
    ];
    for (const [url, code, message] of cases) {
      expect(await refusal(url), url).toEqual({ code, message: expect.stringMatching(message) as string });
    }
    // The last one: no connection is left for it.
    const others = Array.from(
      { length: 9 },
      () => new pg.Client({ connectionString: as('plain', PASSWORD) }),
    );
    await Promise.all(others.map((other) => other.connect()));
    expect(await refusal(as('limited', PASSWORD))).toEqual({
      code: 'store_busy',
      message: expect.stringMatching(/; end other programs, or raise max_connections/) as string,
    });
    await Promise.all(others.map((other) => other.end()));
  });
});
