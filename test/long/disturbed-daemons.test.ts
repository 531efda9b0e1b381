// Two daemons on one SQLite store while one after the other is killed or suspended, also for longer than the lock of an
// account is valid. It takes two minutes and a half, or ROLECALL_LONG_SECONDS.
import { expect, test } from 'vitest';
import { disturb, killed, resumedDuringSuccessor, suspended } from '../support/disturbances.ts';
import { reportOf } from '../support/fleet-checks.ts';
import { keepChanging, startFleet, untilMatched } from '../support/fleet.ts';

const SECONDS = Number(process.env['ROLECALL_LONG_SECONDS'] ?? 150);
const ACCOUNTS = Number(process.env['ROLECALL_LONG_ACCOUNTS'] ?? 12);
const EVERY_SECONDS = Number(process.env['ROLECALL_LONG_EVERY'] ?? 4);
/** How long the lock of an account is valid in a SQLite store after its last renewal. */
const LEASE_MS = 30_000;

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
    const fleet = await startFleet({
      accounts: ACCOUNTS,
      everySeconds: EVERY_SECONDS,
      members: 2,
      maxRuns: 5,
      leaseMs: LEASE_MS,
      restMs: 8000,
      store: 'sqlite',
      behindMs: 0,
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
    const sent = fleet.members.reduce((sum, { proxy }) => sum + proxy.requests.length, 0);
    expect(sent).toBeGreaterThan(2 * SECONDS);
    expect(fleet.effects.length).toBeGreaterThan(SECONDS / 2);
    expect(log.counts.size).toBeGreaterThan(1);
    for (const { daemon } of fleet.members)
      expect(daemon.output().stderr).not.toMatch(/bug in rolecall|SQLITE|token-of-/);
  },
);
