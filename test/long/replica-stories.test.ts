// Several daemons on one PostgreSQL store: one leads and runs the accounts, and another one takes over when it has stopped.
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Daemon, EVERY_SECOND, HTTP_TOKEN, ONCE_A_YEAR, startDaemon } from '../support/daemon.ts';
import { startIn } from '../support/fleet.ts';
import { commitAll, git } from '../support/git.ts';
import { hasPostgres } from '../support/postgres.ts';
import { ACCOUNTS, LEASE_MS, leads, replicaScene, untilLeading } from '../support/replica-scene.ts';
import { until } from '../support/workspace.ts';

const runs = (daemon: Daemon): number => daemon.events('run_ended').length;

describe.skipIf(!hasPostgres)('several replicas', () => {
  test('follow one that leads, and take over when it is killed or suspended', async () => {
    const on = await replicaScene(EVERY_SECOND);
    const first = await startDaemon(on);
    await untilLeading(first);
    const second = await startDaemon(on);
    await until('the second one follows', () => second.events('follows').length > 0);
    await until('the first one runs accounts', () => runs(first) > 8);
    expect([runs(second), await leads(second)]).toEqual([0, false]);
    expect((await second.get('/readyz')).status).toBe(200);
    expect((await second.get('/metrics')).text).not.toContain('account=');

    const suspendedMs = Date.now();
    first.process.kill('SIGSTOP');
    await until('the other one leads', () => second.events('leads').length > 0);
    expect(Date.now() - suspendedMs).toBeLessThan(LEASE_MS);
    await until('it runs every account', () => ACCOUNTS.every((name) => second.runsEnded(name) > 1));
    const before = runs(first);
    first.process.kill('SIGCONT');
    await until('the suspended one follows', () => first.events('leadership_lost').length > 0);
    const after = runs(second);
    await until('the other one continues', () => runs(second) > after + 4);
    // Those in progress end as interrupted.
    const late = first.events('run_ended').slice(before);
    expect(late.filter(({ status }) => status !== 'interrupted')).toEqual([]);

    second.process.kill('SIGKILL');
    await second.ended;
    await until('the first one leads again', () => first.events('leads').length === 2);
    const again = runs(first);
    await until('it runs every account', () => runs(first) > again + 8);
    expect(on.writes().toSorted()).toEqual(['POST Go', 'POST Go', 'POST Go', 'POST Go']);
    await first.stop();
  });

  test('run a synced account once, whichever receives the request, and hand over at once when the leader stops in order', async () => {
    const on = await replicaScene(ONCE_A_YEAR);
    const first = await startDaemon(on);
    await untilLeading(first);
    const second = await startDaemon(on);
    const manual = (): number =>
      first.events('run_ended', 'beta').filter(({ trigger }) => trigger === 'manual').length;
    await until('the first runs have ended', () => runs(first) === 4);
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
    await until('it says so', () => behind.events('configuration_older').length > 0);
    await new Promise((resolve) => setTimeout(resolve, 2500));
    expect([runs(behind), await leads(behind)]).toEqual([0, false]);
    git(older, ['pull', '--quiet', '--ff-only']);
    await until('it runs with the newer commit', () => behind.runsEnded('beta') > 0);
    expect(on.writes().filter((write) => write.startsWith('DELETE'))).toEqual([]);
    await behind.stop();
  });

  test('can be restarted one after the other without a failed request or a new sign-in', async () => {
    const on = await replicaScene(ONCE_A_YEAR);
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
        await new Promise((resolve) => setTimeout(resolve, 20));
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
    expect([await statusAt(here), await statusAt(there)]).toEqual([200, 200]);
    for (const daemon of daemons) await daemon.stop();
  });
});
