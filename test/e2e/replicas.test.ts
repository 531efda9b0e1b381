// Several daemons on one PostgreSQL store: which of them runs an account, and what happens when one of them is lost.
import { describe, expect, test } from 'vitest';
import { type Daemon, EVERY_SECOND, HTTP_TOKEN, ONCE_A_YEAR, startDaemon } from '../support/daemon.ts';
import { hasPostgres } from '../support/postgres.ts';
import { LEASE_MS, replicaScene, replicasOf } from '../support/replica-scene.ts';
import { until } from '../support/workspace.ts';

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
