// The connections of a store: those of the check of a busy one, and the end of those to a database that does not answer.
import { sql } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openPostgres } from '../../../../src/store/postgres/database.ts';
import { hasPostgres } from '../../../support/postgres.ts';
import { until } from '../../../support/workspace.ts';
import { freshLocation } from '../fixture.ts';

const sockets = (): number => process.getActiveResourcesInfo().filter((name) => name === 'PipeWrap').length;

describe.skipIf(!hasPostgres)('a store in PostgreSQL', () => {
  it('is available while all connections of its pool are used', async () => {
    const location = await freshLocation();
    const store = await openPostgres({ ...location, pool: 1 }, {});
    onTestFinished(() => store.close());
    await store.db.connection().execute(() => store.write());
  });

  it('that does not answer when it is closed leaves no connection, which would keep the process alive', async () => {
    const location = await freshLocation();
    const before = sockets();
    const store = await openPostgres(location, {});
    const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(store.db);
    const pid = rows[0]?.pid ?? 0;
    process.kill(pid, 'SIGSTOP');
    onTestFinished(() => void process.kill(pid, 'SIGCONT'));
    expect(sockets()).toBeGreaterThan(before);
    await store.close();
    await until('no connection is open', () => sockets() <= before);
  });
});
