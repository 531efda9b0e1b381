// Daemons whose database is not available when they start, and whose clock differs from the database's.
import { describe, expect, test } from 'vitest';
import { startDaemon } from '../support/daemon.ts';
import { hasPostgres, ownPostgres } from '../support/postgres.ts';
import { replicaScene } from '../support/replica-scene.ts';
import { until } from '../support/workspace.ts';

describe.skipIf(!hasPostgres)('a daemon', () => {
  test(
    'waits for a database that is down when it starts, and answers 503 until then',
    { timeout: 90_000 },
    async () => {
      const cluster = await ownPostgres();
      const on = await replicaScene('"0 0 1 1 *"');
      await cluster.stop();
      const daemon = await startDaemon(on, { env: { ROLECALL_DATABASE_URL: cluster.url } });
      expect((await daemon.get('/readyz')).status).toBe(503);
      expect((await daemon.get('/healthz')).status).toBe(200);
      await cluster.start();
      await until('it is ready', async () => (await daemon.get('/readyz')).status === 200);
      await until('it runs an account', () => daemon.runsEnded('beta', 'converged') > 0);
      expect(on.writes()).toContain('POST Go');
      await daemon.stop();
    },
  );
});
