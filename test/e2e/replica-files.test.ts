// Several daemons on one PostgreSQL store whose files differ: whose count, and who runs what.
import { appendFileSync, cpSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Daemon, EVERY_SECOND, HTTP_TOKEN, startDaemon } from '../support/daemon.ts';
import { startIn } from '../support/fleet.ts';
import { commitAll, git } from '../support/git.ts';
import { hasPostgres } from '../support/postgres.ts';
import { ACCOUNTS, LEASE_MS, replicaScene, replicasOf } from '../support/replica-scene.ts';
import { until } from '../support/workspace.ts';

describe.skipIf(!hasPostgres)('replicas with different files', () => {
  test('run what a newer commit changed only where that commit is', { timeout: 90_000 }, async () => {
    const on = await replicaScene('"*/2 * * * * *"');
    const older = join(on.folder, 'older');
    git(on.folder, ['init', '--quiet']);
    commitAll(on.folder, 'First');
    git(on.folder, ['clone', '--quiet', '.', older]);
    const behind = await startDaemon({ start: startIn(on, older) });
    await until('it runs every account', () => ACCOUNTS.every((name) => behind.runsEnded(name) > 0));

    on.configure('mode: plan\nskills: [Go]', 'beta');
    on.configure('skills: [Go, Rust]', 'gamma');
    const file = (name: string): string => join(on.folder, `config/accounts/${name}.yaml`);
    renameSync(file('delta'), file('epsilon'));
    git(on.folder, ['add', '--all', 'config']);
    git(on.folder, ['commit', '--quiet', '-m', 'Second'], '2026-01-02T00:00:00Z');
    const newer = await startDaemon(on);
    await until('the older one reports that it waits', () => behind.events('configuration_older').length > 0);
    await until('the newer one runs what changed', () =>
      ['beta', 'gamma'].every((name) => newer.runsEnded(name) > 0),
    );
    const changed = ['beta', 'gamma', 'delta'] as const;
    const before = changed.map((name) => behind.runsEnded(name));
    const unchanged = behind.runsEnded('acme');
    await until('it still runs what did not change', () => behind.runsEnded('acme') > unchanged + 1);
    await until(
      'the newer one runs the changed accounts again',
      () => newer.runsEnded('beta', 'planned') > 2,
    );
    expect(changed.map((name) => behind.runsEnded(name))).toEqual(before);
    expect(newer.runsEnded('delta')).toBe(0);
    const inOlder = ['--config', join(older, 'config/rolecall.yaml'), 'status', '--format', 'json'];
    const statuses = async () => JSON.parse((await on.run(inOlder, { withoutConfig: true })).stdout);
    expect(await statuses()).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ account: 'delta', leftOut: true }),
        expect.objectContaining({ account: 'epsilon', state: 'converged', configured: true }),
      ]),
    );
    expect(await behind.api('accounts/delta/sync', {})).toMatchObject({
      status: 409,
      body: { error: { code: 'left_out', message: expect.stringContaining('newest configuration') } },
    });

    // Its file is only where the newer commit is.
    expect(behind.runsEnded('epsilon')).toBe(0);
    expect((await behind.api('accounts/epsilon')).body).toMatchObject({
      valid: true,
      mode: null,
      leftOut: false,
    });
    expect((await behind.api('accounts/epsilon/sync', {})).status).toBe(202);
    await newer.stop();
    const sha = git(on.folder, ['rev-parse', 'HEAD']).trim();
    const waits = async () => (await behind.api('accounts/beta')).body['waitsForCommit'];
    await until('the remaining one reports which commit is missing', async () => (await waits()) === sha);
    const { stdout } = await on.run(['status', 'beta', '--format', 'json']);
    expect(JSON.parse(stdout)).toMatchObject([{ account: 'beta', waitsForCommit: sha }]);
    expect((await on.run(['status', 'beta'])).stdout).toContain(
      `no live replica has commit ${sha.slice(0, 12)}`,
    );
    expect((await behind.api('accounts/epsilon')).body).toMatchObject({ waitsForCommit: sha });
    for (const path of ['/', '/accounts/beta', '/accounts/epsilon']) {
      const page = await fetch(behind.url + path, { headers: { authorization: `Bearer ${HTTP_TOKEN}` } });
      expect(await page.text()).toMatch(/no (live )?replica has (the )?commit/);
    }
    await behind.stop();
    const removed = { account: 'epsilon', state: 'removed', configured: false, nextRun: null };
    expect(await statuses()).toContainEqual(expect.objectContaining(removed));
  });

  test.each(['a folder without git', 'a checkout of the same commit'])(
    'do not undo what one of them applied from other files in %s',
    { timeout: 90_000 },
    async (place) => {
      const on = await replicaScene(EVERY_SECOND);
      const other = join(on.folder, 'other');
      if (place === 'a folder without git')
        cpSync(join(on.folder, 'config'), join(other, 'config'), { recursive: true });
      else {
        git(on.folder, ['init', '--quiet']);
        commitAll(on.folder, 'First');
        git(on.folder, ['clone', '--quiet', '.', other]);
      }
      const changed = ['beta', 'delta'] as const;
      const runsOfChanged = (daemon: Daemon) => changed.map((name) => daemon.runsEnded(name));
      const newestPids = async (daemon: Daemon) =>
        (await replicasOf(daemon)).filter(({ alive, newest }) => alive && newest).map(({ pid }) => pid);
      const rust = () => on.writes().filter((write) => write.includes('Rust'));

      const first = await startDaemon(on);
      await until('it runs every account', () => ACCOUNTS.every((name) => first.runsEnded(name) > 0));
      const file = (name: string): string => join(other, `config/accounts/${name}.yaml`);
      writeFileSync(file('beta'), readFileSync(file('beta'), 'utf8').replace('[Go]', '[Go, Rust]'));
      renameSync(file('delta'), file('epsilon'));
      const second = await startDaemon({ start: startIn(on, other) });
      await until('it reports its files', () => second.events('configuration_differs').length > 0);
      const before = runsOfChanged(first);
      await until('what differs runs with the files that were first', () =>
        runsOfChanged(first).every((runs, index) => runs > (before[index] ?? 0) + 2),
      );
      await until('the rest is shared', () => second.runsEnded('gamma') > 0);
      expect([runsOfChanged(second), second.runsEnded('epsilon')]).toEqual([[0, 0], 0]);
      const [differs] = second.events('configuration_differs');
      expect(differs).toMatchObject({ accounts: 2, names: ['beta', 'delta'] });
      expect(rust()).toEqual([]);
      expect(await newestPids(second)).toEqual([first.process.pid]);
      const { body } = await second.api('accounts/epsilon');
      expect(body).toMatchObject({ leftOut: true, activity: 'idle', nextRunAt: null });

      // Now no other replica has the files that were first.
      await first.stop();
      await until('its files count', () => rust().length > 0);
      const again = await startDaemon(on);
      if (place === 'a folder without git') {
        await until('it reports its files', () => again.events('configuration_differs').length > 0);
        const since = second.runsEnded('beta');
        await until('the files of the other one count', () => second.runsEnded('beta') > since + 2);
        expect(await newestPids(second)).toEqual([second.process.pid]);
        expect(rust()).toEqual(['POST Rust']);
      } else {
        // A commit counts more than edits of it.
        await until(
          'the edits do not count any more',
          () => second.events('configuration_differs').length > 1,
        );
        expect(await newestPids(second)).toEqual([again.process.pid]);
      }
      for (const daemon of [second, again]) await daemon.stop();
    },
  );

  test('run nothing with an invalid service file, while another one has a valid one', async () => {
    const on = await replicaScene(EVERY_SECOND);
    const other = join(on.folder, 'other');
    cpSync(join(on.folder, 'config'), join(other, 'config'), { recursive: true });
    const first = await startDaemon(on);
    const second = await startDaemon({ start: startIn(on, other) });
    await until('both run accounts', () => first.runsEnded('beta') > 0 && second.runsEnded('beta') > 0);
    writeFileSync(join(other, 'config/rolecall.yaml'), 'nonsense: 3');
    await until(
      'it leaves the accounts to the other one',
      () => second.events('configuration_differs').length > 0,
    );
    const since = Date.now();
    on.configure('skills: [Go, Rust]', 'beta');
    await until('an edit of the valid files counts', () => on.writes().includes('POST Rust'));
    const before = first.runsEnded('gamma');
    await until('the valid one runs the accounts', () => first.runsEnded('gamma') > before + 3);
    expect(second.events('run_ended').filter(({ time }) => Date.parse(time) > since)).toEqual([]);
    for (const daemon of [first, second]) await daemon.stop();
  });

  test(
    'run nothing that a newer commit removed after git has failed for a moment',
    { timeout: 90_000 },
    async () => {
      const on = await replicaScene(EVERY_SECOND);
      const older = join(on.folder, 'older');
      git(on.folder, ['init', '--quiet']);
      commitAll(on.folder, 'First');
      git(on.folder, ['clone', '--quiet', '.', older]);
      const newer = await startDaemon(on);
      const behind = await startDaemon({ start: startIn(on, older) });
      await until('both run accounts', () => newer.runsEnded('beta') > 0 && behind.runsEnded('beta') > 0);
      on.configure('skills: [Go, Rust]', 'beta');
      rmSync(join(on.folder, 'config/accounts/delta.yaml'));
      git(on.folder, ['add', '--all', 'config']);
      git(on.folder, ['commit', '--quiet', '-m', 'Second'], '2026-01-02T00:00:00Z');
      await until('the newer commit counts', () => on.writes().includes('POST Rust'));
      await until('the older one waits', () => behind.events('configuration_older').length > 0);
      const runsOf = () => ['beta', 'delta'].map((name) => behind.runsEnded(name));
      const before = runsOf();

      newer.process.kill('SIGKILL');
      await newer.ended;
      for (const [from, to] of [
        ['.git', 'gone'],
        ['gone', '.git'],
      ] as const) {
        renameSync(join(older, from), join(older, to));
        appendFileSync(join(older, 'config/accounts/gamma.yaml'), '# Still the same.\n');
        const unchanged = behind.runsEnded('acme');
        await until(
          'it runs what did not change',
          () => behind.runsEnded('acme') > unchanged + LEASE_MS / 1000 + 2,
        );
      }
      expect(runsOf()).toEqual(before);
      expect(behind.events('commit_unavailable')).not.toEqual([]);
      await behind.stop();

      // A process that never had a commit runs its files, until there is a commit that is older.
      renameSync(join(older, '.git'), join(older, 'gone'));
      const without = await startDaemon({ start: startIn(on, older) });
      await until('its files count', () => without.runsEnded('delta') > 0);
      appendFileSync(join(older, 'config/accounts/gamma.yaml'), 'schedule: "*/2 * * * * *"\n');
      const stored = async () => (await without.api('accounts/gamma')).body['schedule'];
      await until('an edit of them counts', async () => (await stored()) === '*/2 * * * * *');
      const edited = without.runsEnded('gamma');
      await until('it runs', () => without.runsEnded('gamma') > edited);
      expect(without.events('configuration_without_commit')).toHaveLength(1);
      renameSync(join(older, 'gone'), join(older, '.git'));
      await until('the newer commit counts again', () => without.events('commit_unavailable').length > 0);
      const last = without.runsEnded('delta');
      const unchanged = without.runsEnded('acme');
      await until('it runs what did not change', () => without.runsEnded('acme') > unchanged + 3);
      expect(without.runsEnded('delta')).toBe(last);
      expect(on.writes().filter((write) => write.startsWith('DELETE'))).toEqual([]);
      await without.stop();
    },
  );
});
