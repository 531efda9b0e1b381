// Two daemons on one SQLite store while one after the other is killed or suspended, also for longer than the lock of an
// account is valid. It takes two minutes and a half, or ROLECALL_LONG_SECONDS.
import { test } from 'vitest';
import { disturbFleet } from '../support/disturbed-fleet.ts';
import { killed, resumedDuringSuccessor, suspended } from '../support/disturbances.ts';

const SECONDS = Number(process.env['ROLECALL_LONG_SECONDS'] ?? 150);
const ACCOUNTS = Number(process.env['ROLECALL_LONG_ACCOUNTS'] ?? 12);
const EVERY_SECONDS = Number(process.env['ROLECALL_LONG_EVERY'] ?? 4);
/** How long the lock of an account is valid in a SQLite store after its last renewal. */
const LEASE_MS = 10_000;

/** An odd number, so that both daemons meet each of them in time. */
const DISTURBANCES = [
  killed(true),
  resumedDuringSuccessor(LEASE_MS + 2000),
  suspended(3000, true),
  suspended(3000, false),
  killed(false),
];

test(
  `two daemons on one SQLite store run each of ${ACCOUNTS} accounts one at a time, killed and suspended for ${SECONDS} s`,
  { timeout: (SECONDS + 300) * 1000 },
  async () => {
    const options = {
      accounts: ACCOUNTS,
      everySeconds: EVERY_SECONDS,
      members: 2,
      leaseMs: LEASE_MS,
      restMs: 8000,
      store: 'sqlite',
      behindMs: 0,
    } as const;
    const neverLogged = /bug in rolecall|SQLITE|token-of-/;
    await disturbFleet(options, DISTURBANCES, { seconds: SECONDS, kindsOver: 1, neverLogged });
  },
);
