// Two daemons on one PostgreSQL store: one leads and runs the accounts, and the other one when it has stopped. More of them:
// replicas.test.ts and rolling-restart.test.ts.
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Daemon, EVERY_SECOND, ONCE_A_YEAR, startDaemon } from '../support/daemon.ts';
import { startIn } from '../support/fleet.ts';
import { commitAll, git } from '../support/git.ts';
import { hasPostgres } from '../support/postgres.ts';
import { ACCOUNTS, leads, replicaScene, untilLeading } from '../support/replica-scene.ts';
import { until } from '../support/workspace.ts';

const runs = (daemon: Daemon): number => daemon.events('run_ended').length;

describe.skipIf(!hasPostgres)('several replicas', () => {
  test('run a synced account once, whichever receives the request, and hand over at once when the leader stops in order', async () => {
    const on = await replicaScene(ONCE_A_YEAR);
    const first = await startDaemon(on);
    await untilLeading(first);
    const second = await startDaemon(on);
    const manual = (): number =>
      first.events('run_ended', 'beta').filter(({ trigger }) => trigger === 'manual').length;
    await until('the first runs have ended', () => runs(first) === 4);
    expect((await second.get('/metrics')).text).not.toContain('account=');
    for (const [index, daemon] of [first, second].entries()) {
      expect((await daemon.api('accounts/beta/sync', {})).status).toBe(202);
      await until('it has run', () => manual() === index + 1);
    }
    await first.stop();
    const stoppedMs = Date.now();
    expect([manual(), runs(first), runs(second)]).toEqual([2, 6, 0]);
    await untilLeading(second);
    expect(Date.now() - stoppedMs).toBeLessThan(1500);
    for (const name of ACCOUNTS) expect((await second.api(`accounts/${name}/sync`, {})).status).toBe(202);
    await until('it runs every account', () => ACCOUNTS.every((name) => second.runsEnded(name) > 0));
    await second.stop();
  });

  test('run nothing with an older commit than that of the last leader', async () => {
    const on = await replicaScene(EVERY_SECOND);
    const older = join(on.folder, 'older');
    on.write('.gitignore', '*\n!config\n!config/**\n*.new\n');
    git(on.folder, ['init', '--quiet']);
    commitAll(on.folder, 'First');
    git(on.folder, ['clone', '--quiet', '.', older]);
    on.configure('skills: [Go, Rust]', 'beta');
    git(on.folder, ['add', 'config']);
    git(on.folder, ['commit', '--quiet', '-m', 'Second'], '2099-01-02T00:00:00Z');
    const newer = await startDaemon(on);
    await until('it runs', () => newer.runsEnded('beta') > 0);
    await newer.stop();
    const behind = await startDaemon({ start: startIn(on, older) });
    await until('it reports that', () => behind.events('configuration_older').length > 0);
    await new Promise((resolve) => setTimeout(resolve, 2500));
    expect([runs(behind), await leads(behind)]).toEqual([0, false]);
    git(older, ['pull', '--quiet', '--ff-only']);
    await until('it runs with the newer commit', () => behind.runsEnded('beta') > 0);
    expect(on.writes().filter((write) => write.startsWith('DELETE'))).toEqual([]);
    await behind.stop();
  });
});
