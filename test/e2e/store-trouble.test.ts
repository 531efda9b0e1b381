// A store that fails while the daemon runs: nothing is written to the service, and the reason is reported.
import { copyFileSync, existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { SQLite } from '../../src/system/sqlite.ts';
import { expect, test } from 'vitest';
import { EVERY_SECOND, startDaemon, WITH_TOKEN } from '../support/daemon.ts';
import { type Scene, scene } from '../support/scene.ts';
import { mountSmallDisk } from '../support/small-disk.ts';
import { costly, someOf } from '../support/thorough.ts';

const applyingScene = (): Promise<Scene> =>
  scene({
    skills: ['Go'],
    file: 'skills: [Go]',
    service: [`defaults: { mode: apply, schedule: ${EVERY_SECOND} }`, WITH_TOKEN].join('\n'),
  });

async function runningScene(prepare: (s: Scene) => void = () => undefined) {
  const s = await applyingScene();
  prepare(s);
  const daemon = await startDaemon(s);
  await s.until('it has converged', () => daemon.runsEnded('acme', 'converged') > 0);
  return { s, daemon };
}

const storeOf = (s: Scene): string => join(s.folder, 'data/rolecall.db');

test.each(someOf(['replaced', 'removed'], 1))(
  'a store that was %s while it was open is not written to',
  async (how) => {
    const { s, daemon } = await runningScene();
    const store = storeOf(s);
    if (how === 'replaced') copyFileSync(store, `${store}.copy`);
    for (const part of ['', '-wal', '-shm']) rmSync(`${store}${part}`, { force: true });
    if (how === 'replaced') renameSync(`${store}.copy`, store);
    s.sandbox.removeEntry('acme', s.idOf('Go'));
    await s.until('it reports that', () => daemon.events('due_unknown').length > 0);
    expect(daemon.events('due_unknown')[0]).toMatchObject({ code: 'store_replaced' });
    const ready = await daemon.get('/readyz');
    expect([ready.status, ready.text]).toEqual([503, expect.stringContaining('Restart rolecall')]);
    expect((await daemon.api('status')).body['issues']).toEqual([
      expect.stringContaining('Restart rolecall'),
    ]);
    expect(s.writes()).toEqual([]);
    expect(existsSync(store)).toBe(how === 'replaced');
    await daemon.stop();
  },
);

costly(
  'a store error that is over is no longer reported, even if an account was removed meanwhile',
  async () => {
    const { s, daemon } = await runningScene((on) => on.configure('skills: []', 'other'));
    await s.until('the other one runs', () => daemon.runsEnded('other') > 0);
    const store = storeOf(s);
    renameSync(store, `${store}.away`);
    await s.until('it reports that', () => daemon.events('due_unknown').length > 0);
    rmSync(join(s.folder, 'config/accounts/other.yaml'));
    await s.until('the account is unscheduled', () => daemon.events('unscheduled', 'other').length > 0);
    renameSync(`${store}.away`, store);
    // The failed run could not give its lease back, which would be valid for half a minute.
    s.execute("update accounts set lease_until = '2026-01-01T00:00:00.000Z'");
    const before = daemon.runsEnded('acme', 'converged');
    await s.until('the remaining account runs', async () => {
      await daemon.api('accounts/acme/sync', {});
      return daemon.runsEnded('acme', 'converged') > before;
    });
    expect((await daemon.api('status')).body['issues']).toEqual([]);
    await daemon.stop();
  },
);

costly('a store that another program keeps locked delays neither the probes nor the shutdown', async () => {
  const { s, daemon } = await runningScene();
  const other = new SQLite(storeOf(s));
  try {
    other.exec('begin immediate');
    s.sandbox.removeEntry('acme', s.idOf('Go'));
    const ready = await daemon.get('/readyz');
    expect([ready.status, ready.text]).toEqual([503, expect.stringContaining('locked')]);
    const startedAt = performance.now();
    expect((await daemon.get('/healthz')).status).toBe(200);
    expect(performance.now() - startedAt).toBeLessThan(1000);
    daemon.process.kill('SIGTERM');
    expect((await daemon.ended).status).toBe(0);
    expect(s.writes()).toEqual([]);
  } finally {
    other.close();
  }
});

costly('the daemon is not ready and writes nothing while the disk of the store is full', async (context) => {
  const s = await applyingScene();
  const disk = mountSmallDisk(join(s.folder, 'data'));
  if (disk === null) return context.skip('no tmpfs can be mounted here');
  try {
    const daemon = await startDaemon(s);
    await s.until('it has converged', () => daemon.runsEnded('acme', 'converged') > 0);
    disk.fill(0);
    await s.until('it is not ready', async () => (await daemon.get('/readyz')).status === 503);
    s.sandbox.removeEntry('acme', s.idOf('Go'));
    await s.until('it reports that', () => daemon.events('due_unknown').length > 0);
    expect(s.writes()).toEqual([]);
    disk.empty();
    await s.until('runs continue', () => s.writes().length > 0);
    await daemon.stop();
  } finally {
    disk.unmount();
  }
});
