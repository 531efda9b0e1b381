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

  test.each([
    [0, 200],
    [8000, 200],
    [20_000, 503],
    [-20_000, 503],
  ])('whose clock differs by %i ms answers %i', { timeout: 90_000 }, async (ms, status) => {
    const on = await replicaScene('"0 0 1 1 *"');
    const shift = `const now = Date.now; Date.now = () => now() + ${ms}`;
    const env = { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(shift)}` };
    const daemon = await startDaemon(on, { env });
    await until('it leads', () => daemon.events('leads').length > 0);
    await until('it answers', async () => (await daemon.get('/readyz')).status === status);
    expect(daemon.events('clock_differs').length).toBe(ms === 0 ? 0 : 1);
    await daemon.stop();
  });
});
