// Two daemons on one PostgreSQL store, of which either runs what is due. More of them: replicas.test.ts and
// rolling-restart.test.ts.
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Daemon, EVERY_SECOND, ONCE_A_YEAR, startDaemon } from '../support/daemon.ts';
import { startIn } from '../support/fleet.ts';
import { commitAll, git } from '../support/git.ts';
import { hasPostgres } from '../support/postgres.ts';
import { ACCOUNTS, replicaScene } from '../support/replica-scene.ts';
import { until } from '../support/workspace.ts';

const runs = (...daemons: readonly Daemon[]): number =>
  daemons.reduce((sum, daemon) => sum + daemon.events('run_ended').length, 0);

describe.skipIf(!hasPostgres)('several replicas', () => {
  test('run each account and each sync once, whichever receives it, and hand over at once when one stops in order', async () => {
    const on = await replicaScene(ONCE_A_YEAR);
    const both = [await startDaemon(on), await startDaemon(on)] as const;
    const manual = (): number =>
      both
        .flatMap((daemon) => daemon.events('run_ended', 'beta'))
        .filter(({ trigger }) => trigger === 'manual').length;
    await until('the first runs have ended', () => runs(...both) === 4);
    for (const [index, daemon] of both.entries()) {
      expect((await daemon.api('accounts/beta/sync', {})).status).toBe(202);
      await until('it has run', () => manual() === index + 1);
    }
    on.sandbox.setFaults([{ match: { method: 'GET' }, times: 'always', do: { type: 'latency', ms: 1500 } }]);
    for (const name of ACCOUNTS) expect((await both[0].api(`accounts/${name}/sync`, {})).status).toBe(202);
    const isRunning = async (): Promise<boolean> =>
      (await both[1].api<{ accounts: { activity: string }[] }>('accounts')).body.accounts.filter(
        ({ activity }) => activity === 'running',
      ).length === 3;
    await until('all of them run', isRunning);
    on.sandbox.setFaults([]);
    const [before, stoppedMs] = [runs(both[1]), Date.now()];
    await both[0].stop();
    const interrupted = both[0].events('run_ended').filter(({ status }) => status === 'interrupted').length;
    await until('the other one has run what was interrupted', () => runs(both[1]) >= before + interrupted);
    expect(Date.now() - stoppedMs).toBeLessThan(10_000);
    await both[1].stop();
    expect(on.writes().toSorted()).toEqual(['POST Go', 'POST Go', 'POST Go', 'POST Go']);
  });

  test('change nothing with an older commit than that of an account', async () => {
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
    await until('it holds what differs', () => behind.runsEnded('beta', 'held') > 1);
    git(older, ['pull', '--quiet', '--ff-only']);
    await until('it runs with the newer commit', () => behind.runsEnded('beta', 'converged') > 0);
    expect(on.writes().filter((write) => write.startsWith('DELETE'))).toEqual([]);
    await behind.stop();
  });
});
