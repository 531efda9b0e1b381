// Several daemons on one PostgreSQL store: which of them runs an account, and what happens when one of them is lost.
import { cpSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  type Daemon,
  EVERY_SECOND,
  HTTP_TOKEN,
  ONCE_A_YEAR,
  startDaemon,
  WITH_TOKEN,
} from '../support/daemon.ts';
import { commitAll, git } from '../support/git.ts';
import { hasPostgres } from '../support/postgres.ts';
import { scene, type Scene } from '../support/scene.ts';
import { until } from '../support/workspace.ts';

const LEASE_MS = 2500;
const ACCOUNTS = ['beta', 'gamma', 'delta'] as const;

interface ReplicaJson {
  readonly id: string;
  readonly pid: number;
  readonly alive: boolean;
  readonly newest: boolean;
}

async function replicaScene(schedule: string, daemon = ''): Promise<Scene> {
  const on = await scene({
    store: 'postgres',
    file: 'mode: apply\nskills: [Go]',
    others: ACCOUNTS.map((name) => ({ name, token: `token-of-${name}`, resources: [{ id: 'someone' }] })),
    settings: { latencyMs: 10 },
  });
  on.serve(
    {},
    `${WITH_TOKEN}\ndaemon: { lease: ${LEASE_MS}ms, maxRuns: 4${daemon} }\ndefaults: { mode: apply, schedule: ${schedule}, jitter: 0s }`,
  );
  for (const name of ACCOUNTS) on.configure('skills: [Go]', name);
  return on;
}

async function replicasOf(daemon: Daemon): Promise<readonly ReplicaJson[]> {
  return (await daemon.api<{ replicas: readonly ReplicaJson[] }>('replicas')).body.replicas;
}

describe.skipIf(!hasPostgres)('several replicas', () => {
  test('share the accounts, and replace one that is killed or suspended', { timeout: 90_000 }, async () => {
    const on = await replicaScene(EVERY_SECOND);
    const first = await startDaemon(on);
    const second = await startDaemon(on);
    const runs = (daemon: Daemon): number => daemon.events('run_ended').length;
    await until('both run accounts', () => runs(first) > 3 && runs(second) > 3);
    expect((await replicasOf(first)).filter(({ alive }) => alive)).toHaveLength(2);

    first.process.kill('SIGSTOP');
    const suspended = Date.now();
    const [id] = second.events('replica_registered');
    await until(
      'its turns are freed',
      () => second.events('turns_freed').length > 0 || Date.now() - suspended > 3 * LEASE_MS,
    );
    const before = runs(second);
    await until('the other replica runs every account', () => runs(second) > before + 8);
    first.process.kill('SIGCONT');
    await until('it continues under another id', () => first.events('replica_registered').length === 2);
    const resumed = runs(first);
    await until('it runs accounts again', () => runs(first) > resumed + 2);
    expect(id).toBeDefined();

    second.process.kill('SIGKILL');
    await second.ended;
    const killed = runs(first);
    await until('the remaining replica runs every account', () => runs(first) > killed + 8);
    await until('the killed one is removed', async () => (await replicasOf(first)).length === 1);
    expect(on.writes().toSorted()).toEqual(['POST Go', 'POST Go', 'POST Go', 'POST Go']);
    await first.stop();
  });

  test('run what a newer commit changed only where that commit is', { timeout: 90_000 }, async () => {
    const on = await replicaScene('"*/2 * * * * *"');
    const older = join(on.folder, 'older');
    git(on.folder, ['init', '--quiet']);
    commitAll(on.folder, 'First');
    git(on.folder, ['clone', '--quiet', '.', older]);
    const inOlder: Scene['start'] = (args, given) =>
      on.start(['--config', join(older, 'config/rolecall.yaml'), ...args], { ...given, withoutConfig: true });
    const behind = await startDaemon({ start: inOlder });
    await until('it runs every account', () => ACCOUNTS.every((name) => behind.runsEnded(name) > 0));

    on.configure('mode: plan\nskills: [Go]', 'beta');
    on.configure('skills: [Go, Rust]', 'gamma');
    rmSync(join(on.folder, 'config/accounts/delta.yaml'));
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
    expect(await behind.api('accounts/delta/sync', {})).toMatchObject({
      status: 409,
      body: { error: { code: 'left_out', message: expect.stringContaining('newest configuration') } },
    });

    await newer.stop();
    const sha = git(on.folder, ['rev-parse', 'HEAD']).trim();
    const waits = async () => (await behind.api('accounts/beta')).body['waitsForCommit'];
    await until('the remaining one reports which commit is missing', async () => (await waits()) === sha);
    const { stdout } = await on.run(['status', 'beta', '--format', 'json']);
    expect(JSON.parse(stdout)).toMatchObject([{ account: 'beta', waitsForCommit: sha }]);
    expect((await on.run(['status', 'beta'])).stdout).toContain(
      `no live replica has commit ${sha.slice(0, 12)}`,
    );
    for (const path of ['/', '/accounts/beta']) {
      const page = await fetch(behind.url + path, { headers: { authorization: `Bearer ${HTTP_TOKEN}` } });
      expect(await page.text()).toMatch(/no (live )?replica has (the )?commit/);
    }
    await behind.stop();
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
      const startOther = async () =>
        await startDaemon({
          start: (args, given) =>
            on.start(['--config', join(other, 'config/rolecall.yaml'), ...args], {
              ...given,
              withoutConfig: true,
            }),
        });
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
      const second = await startOther();
      await until('it reports its files', () => second.events('configuration_differs').length > 0);
      const before = runsOfChanged(first);
      await until('what differs runs with the files that were first', () =>
        runsOfChanged(first).every((runs, index) => runs > (before[index] ?? 0) + 2),
      );
      expect([runsOfChanged(second), second.runsEnded('epsilon')]).toEqual([[0, 0], 0]);
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

  test('run a synced account once, whichever of them receives the request', async () => {
    const on = await replicaScene(ONCE_A_YEAR);
    const daemons = [await startDaemon(on), await startDaemon(on)];
    const manual = (): number =>
      daemons
        .flatMap((each) => each.events('run_ended', 'beta'))
        .filter(({ trigger }) => trigger === 'manual').length;
    await until(
      'the first runs have ended',
      () => daemons.flatMap((each) => each.events('run_ended')).length === 4,
    );
    for (const [index, daemon] of daemons.entries()) {
      expect((await daemon.api('accounts/beta/sync', {})).status).toBe(202);
      await until('it has run', () => manual() === index + 1);
    }
    for (const daemon of daemons) await daemon.stop();
    expect(manual()).toBe(2);
  });

  test(
    'can be restarted one after the other without a failed request or a new sign-in',
    { timeout: 90_000 },
    async () => {
      const on = await replicaScene(ONCE_A_YEAR, ', shutdownGrace: 2s');
      const first = await startDaemon(on);
      const { url } = first;
      const replaced = [first, await startDaemon(on)];
      const daemons = [...replaced];
      const signedIn = await fetch(`${url}/sign-in`, {
        method: 'POST',
        headers: { origin: url },
        body: new URLSearchParams({ token: HTTP_TOKEN, next: '/' }),
        redirect: 'manual',
      });
      const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? '';
      const statusAt = async (daemon: Daemon) =>
        (await fetch(`${daemon.url}/api/v1/accounts`, { headers: { cookie } })).status;

      const answers: unknown[] = [];
      let isOver = false;
      // As a load balancer: a replica is used until a probe of it fails.
      const client = async (): Promise<void> => {
        while (!isOver) {
          for (const daemon of daemons)
            if ((await daemon.get('/readyz').catch(() => null))?.status === 200)
              answers.push(await statusAt(daemon).catch((error: unknown) => error));
        }
      };
      const clients = Promise.all([client(), client()]);
      await until('both answer', () => answers.length > 10);
      for (const old of replaced) {
        await old.stop();
        daemons.splice(daemons.indexOf(old), 1);
        const next = await startDaemon(on);
        daemons.push(next);
        await until('the new one is ready', async () => (await next.get('/readyz')).status === 200);
      }
      isOver = true;
      await clients;
      expect(answers.filter((answer) => answer !== 200)).toEqual([]);

      const [here, there] = daemons;
      if (here === undefined || there === undefined) throw new Error('there are two');
      const out = { method: 'POST', headers: { cookie, origin: here.url }, redirect: 'manual' } as const;
      expect((await fetch(`${here.url}/sign-out`, out)).status).toBe(303);
      expect([await statusAt(here), await statusAt(there)]).toEqual([401, 401]);
      for (const daemon of daemons) await daemon.stop();
    },
  );
});
