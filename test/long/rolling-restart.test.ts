// Three replicas are restarted one after the other while clients with a session read pages and the API and request runs.
// It takes a minute, or more with ROLECALL_LONG_ROUNDS.
import { describe, expect, test } from 'vitest';
import { startClients } from '../support/balanced-clients.ts';
import { noDisturbances } from '../support/disturbances.ts';
import { reportOf } from '../support/fleet-checks.ts';
import { type Fleet, pause, startFleet } from '../support/fleet.ts';
import { hasPostgres } from '../support/postgres.ts';
import { quantile } from '../support/vitals.ts';
import { until } from '../support/workspace.ts';

const ROUNDS = Number(process.env['ROLECALL_LONG_ROUNDS'] ?? 2);
const ACCOUNTS = Number(process.env['ROLECALL_LONG_ACCOUNTS'] ?? 12);

/** Accepted requests that no run followed. */
async function lostSyncs(
  fleet: Fleet,
  syncs: readonly { readonly account: string; readonly atMs: number }[],
): Promise<string[]> {
  const runs = await fleet.rows<{ account: string; started_at: string }>(
    `select account, started_at from runs where trigger = 'manual' and status <> 'interrupted'`,
  );
  return syncs
    .filter(
      ({ account, atMs }) =>
        !runs.some((run) => run.account === account && Date.parse(run.started_at) >= atMs),
    )
    .map(({ account, atMs }) => `${account} at ${new Date(atMs).toISOString()}`);
}

describe.skipIf(!hasPostgres)('three replicas', () => {
  test(
    `are restarted one after the other, ${ROUNDS} times, without a failed request, a lost run or a new sign-in`,
    { timeout: (ROUNDS * 90 + 120) * 1000 },
    async () => {
      const fleet = await startFleet({
        accounts: ACCOUNTS,
        everySeconds: 4,
        members: 3,
        leaseMs: 10_000,
        restMs: 0,
        store: 'postgres',
        behindMs: 0,
      });
      const { members, accounts } = fleet;
      const [first] = members;
      if (first === undefined) throw new Error('there is no replica');
      const clients = await startClients(first.daemon, { accounts, clients: 6 });
      for (const { daemon } of members) clients.add(daemon);
      await until('all are ready', () => members.every(({ daemon }) => clients.isReady(daemon)));
      clients.begin();
      const stoppedAfterMs: number[] = [];
      for (let round = 0; round < ROUNDS; round += 1) {
        for (const member of members) {
          await pause(3000);
          const startedAt = performance.now();
          await member.daemon.stop();
          stoppedAfterMs.push(performance.now() - startedAt);
          await member.start();
          clients.add(member.daemon);
          await until('it is ready again', () => clients.isReady(member.daemon));
        }
      }
      await pause(4000);
      await clients.stop();
      const endMs = Date.now();
      await until(
        'every request for a run has led to one',
        async () => (await lostSyncs(fleet, clients.syncs)).length === 0,
      ).catch(() => undefined);
      const lost = await lostSyncs(fleet, clients.syncs);
      for (const { daemon } of members) await daemon.stop();
      const { breaches, figures } = await reportOf(fleet, noDisturbances(), { endMs, takeoverMs: 0 });
      console.log(
        `${figures}${clients.answered()} requests and ${clients.syncs.length} syncs answered, the slowest after ` +
          `${Math.round(clients.slowestMs())} ms; a replica ended ${Math.round(quantile(stoppedAfterMs, 0.5))} ms ` +
          `after SIGTERM in the median, ${Math.round(quantile(stoppedAfterMs, 1))} ms at most`,
      );
      expect({ ...breaches, failures: clients.failures, lost }).toEqual({ failures: [], lost: [] });
      expect(clients.answered()).toBeGreaterThan(ROUNDS * 100);
      expect(clients.syncs.length).toBeGreaterThan(ROUNDS * 5);
    },
  );
});
