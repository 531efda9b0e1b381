// Three replicas on one PostgreSQL, the last of which receives each commit late, while one after the other is killed or
// suspended, the database restarts and a transaction is frozen. It takes four minutes, or
// ROLECALL_LONG_SECONDS: a disturbance and the rest after it take half a minute.
import { describe, test } from 'vitest';
import {
  databaseLost,
  databaseRestarted,
  killed,
  resumedDuringSuccessor,
  suspended,
  transactionFrozen,
} from '../support/disturbances.ts';
import { disturbFleet } from '../support/disturbed-fleet.ts';
import { hasPostgres } from '../support/postgres.ts';

const SECONDS = Number(process.env['ROLECALL_LONG_SECONDS'] ?? 240);
const ACCOUNTS = Number(process.env['ROLECALL_LONG_ACCOUNTS'] ?? 12);
const EVERY_SECONDS = Number(process.env['ROLECALL_LONG_EVERY'] ?? 4);
const LEASE_MS = 10_000;

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
      const options = {
        accounts: ACCOUNTS,
        everySeconds: EVERY_SECONDS,
        members: 3,
        leaseMs: LEASE_MS,
        restMs: LEASE_MS + EVERY_SECONDS * 1000,
        store: 'postgres',
        behindMs: 2 * LEASE_MS,
        clocksApartMs: 15_000,
      } as const;
      const kindsOver = Math.min(4, SECONDS / 30);
      const neverLogged = /bug in rolecall|token-of-/;
      await disturbFleet(options, DISTURBANCES, { seconds: SECONDS, kindsOver, neverLogged });
    },
  );
});
