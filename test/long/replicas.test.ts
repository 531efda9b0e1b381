// Three replicas on one PostgreSQL, the last of which receives each commit late, while one after the other is killed or
// suspended, the database restarts and a transaction is frozen. It takes a minute and a half, or ROLECALL_LONG_SECONDS.
import { describe, expect, test } from 'vitest';
import {
  databaseLost,
  databaseRestarted,
  disturb,
  killed,
  resumedDuringSuccessor,
  suspended,
  transactionFrozen,
} from '../support/disturbances.ts';
import { reportOf } from '../support/fleet-checks.ts';
import { keepChanging, startFleet, untilMatched } from '../support/fleet.ts';
import { hasPostgres } from '../support/postgres.ts';

const SECONDS = Number(process.env['ROLECALL_LONG_SECONDS'] ?? 90);
const ACCOUNTS = Number(process.env['ROLECALL_LONG_ACCOUNTS'] ?? 12);
const EVERY_SECONDS = Number(process.env['ROLECALL_LONG_EVERY'] ?? 4);
const LEASE_MS = 6000;

/** Their number and that of the replicas have no common divisor, so each replica meets each of them in time. */
const DISTURBANCES = [
  killed(true),
  resumedDuringSuccessor(3 * LEASE_MS),
  databaseLost,
  suspended(3000, true),
  databaseRestarted,
  transactionFrozen,
  killed(false),
  suspended(3 * LEASE_MS, false),
];

describe.skipIf(!hasPostgres)('three replicas', () => {
  test(
    `run each of ${ACCOUNTS} accounts on one of them at a time, whatever disturbs them for ${SECONDS} s`,
    { timeout: (SECONDS + 300) * 1000 },
    async () => {
      const fleet = await startFleet({
        accounts: ACCOUNTS,
        everySeconds: EVERY_SECONDS,
        members: 3,
        maxRuns: Math.max(5, Math.ceil(ACCOUNTS / 15)),
        leaseMs: LEASE_MS,
        restMs: LEASE_MS + EVERY_SECONDS * 1000,
        store: 'postgres',
        behindMs: 2 * LEASE_MS,
      });
      const endsAtMs = Date.now() + SECONDS * 1000;
      const isOver = (): boolean => Date.now() > endsAtMs;
      const [log] = await Promise.all([disturb(fleet, DISTURBANCES, isOver), keepChanging(fleet, isOver)]);
      const endMs = Date.now();
      await untilMatched(fleet, 120_000);
      for (const { daemon } of fleet.members) await daemon.stop();

      const { breaches, figures } = await reportOf(fleet, log, { endMs, takeoverMs: LEASE_MS });
      console.log(figures);
      expect(breaches).toEqual({});
      // The disturbances, the changes and the runs took place.
      const sent = fleet.members.reduce((sum, { proxy }) => sum + proxy.requests.length, 0);
      expect(sent).toBeGreaterThan(2 * SECONDS);
      expect(fleet.effects.length).toBeGreaterThan(SECONDS / 2);
      expect(log.counts.size).toBeGreaterThan(Math.min(4, SECONDS / 30));
      for (const { daemon } of fleet.members)
        expect(daemon.output().stderr).not.toMatch(/bug in rolecall|token-of-/);
    },
  );
});
