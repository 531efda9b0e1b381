// The clusters of the tests themselves: each kind of program, each control, and nothing that stays behind.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createInterface } from 'node:readline';
import { expect, it, describe } from 'vitest';
import {
  freshPostgres,
  hasPostgres,
  ownPostgres,
  queryPostgres,
  terminateConnections,
} from '../../support/postgres.ts';
import { findPostgres } from '../../support/postgres-programs.ts';

describe('where PostgreSQL is searched for', () => {
  it('is an error when the chosen folder has none', () => {
    const chosen = { ROLECALL_TEST_POSTGRES_BIN: '/nowhere' };
    expect(() => findPostgres(chosen)).toThrow('/nowhere: no PostgreSQL was found');
  });
});

describe.skipIf(!hasPostgres)('the test cluster', () => {
  it('gives each caller a schema of its own in a database whose default order is not that of bytes', async () => {
    const [first, second] = [await freshPostgres(), await freshPostgres()];
    expect(second.url).toBe(first.url);
    expect(second.schema).not.toBe(first.schema);
    const rows = await queryPostgres(
      first.url,
      `select 'a' < 'B' as linguistic, 'a' < 'B' collate "C" as bytes`,
    );
    expect(rows).toEqual([{ linguistic: true, bytes: false }]);
  });

  it('stops, starts, is killed and ends connections', async () => {
    const cluster = await ownPostgres();
    await queryPostgres(cluster.url, 'create table kept (id integer)');
    await cluster.stop();
    await expect(queryPostgres(cluster.url, 'select 1')).rejects.toThrow();
    await cluster.start();
    await cluster.kill();
    await cluster.start();
    expect(await queryPostgres(cluster.url, 'select * from kept')).toEqual([]);
    const frozen = queryPostgres(`${cluster.url}&application_name=rolecall`, 'select pg_sleep(600)');
    const ends = expect(frozen).rejects.toThrow('terminating connection');
    while ((await terminateConnections(cluster.url)) === 0)
      await new Promise((resolve) => setTimeout(resolve, 20));
    await ends;
    await cluster.remove();
    expect(existsSync(cluster.socket)).toBe(false);
  });

  it('ends with a test process that is killed', async () => {
    const root = fileURLToPath(new URL('../../..', import.meta.url));
    const child = spawn(
      process.execPath,
      ['test/support/run-typescript.mjs', 'test/support/run-postgres.ts'],
      { cwd: root, stdio: ['pipe', 'pipe', 'inherit'] },
    );
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const socket = new URL(String((await lines.next()).value)).searchParams.get('host') ?? '';
    expect(existsSync(socket)).toBe(true);
    child.kill('SIGKILL');
    await expect.poll(() => existsSync(socket), { timeout: 20_000 }).toBe(false);
  });
});
