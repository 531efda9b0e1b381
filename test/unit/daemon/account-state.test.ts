// The states of an account, and the order of a list of accounts.
import { describe, expect, it } from 'vitest';
import { type AccountFacts, rankAccounts, statesOf } from '../../../src/daemon/account-state.ts';

const PENDING = { digest: 'sha256:1', runId: 'r', since: '2026-11-21T05:00:00.000Z' };
const APPROVED = { digest: 'sha256:1', by: 'ada', expiresAt: '2026-11-22T05:00:00.000Z' };
const PAUSE = { since: null, by: null, reason: null };

function account(parts: Partial<AccountFacts> = {}): AccountFacts {
  return {
    name: 'acme',
    valid: true,
    activity: 'idle',
    pause: null,
    pending: null,
    approved: null,
    drift: null,
    lastRun: ended('converged'),
    lastSuccessAt: '2026-11-21T05:00:00.000Z',
    ...parts,
  };
}

function ended(
  status: NonNullable<AccountFacts['lastRun']>['status'],
  held = 0,
): NonNullable<AccountFacts['lastRun']> {
  return { status, startedAt: '2026-11-21T05:00:00.000Z', held };
}

describe('the states of an account', () => {
  it.each([
    [account(), ['converged']],
    [account({ lastRun: null }), ['new']],
    [account({ lastRun: null, activity: 'running' }), ['running']],
    [account({ lastRun: ended('failed'), pause: PAUSE }), ['failed', 'paused']],
    [account({ lastRun: ended('held', 2), activity: 'queued' }), ['held', 'queued']],
    [account({ valid: false, lastRun: ended('blocked') }), ['invalid', 'blocked']],
    [account({ lastRun: ended('planned'), drift: { create: 0, delete: 0 } }), ['converged']],
    [account({ lastRun: ended('planned'), drift: { create: 0, delete: 1 } }), ['drift']],
    // After a restart nobody knows what the last plan would do until the next run.
    [account({ lastRun: ended('planned') }), ['unknown']],
    // A newer version may have written a status that this one does not know.
    [account({ lastRun: ended('rested' as 'held') }), ['unknown']],
  ])('are those that are true of it, the most urgent first: %#', (given, states) => {
    expect(statesOf(given)).toEqual(states);
  });

  it('are not those of a plan that is approved, or of the run before, while a run is in progress', () => {
    const drift = { create: 3, delete: 1 };
    const planned = account({ lastRun: ended('planned', 2), pending: PENDING, drift });
    expect(statesOf(planned)).toEqual(['waiting', 'held']);
    expect(statesOf({ ...planned, approved: APPROVED })).toEqual(['held', 'approved']);
    expect(statesOf({ ...planned, approved: { ...APPROVED, digest: 'sha256:2' } })).toEqual([
      'waiting',
      'held',
    ]);
    const running = { ...planned, approved: APPROVED, activity: 'running' as const };
    expect(statesOf(running)).toEqual(['running']);
    // A run of another process, which this daemon has not started.
    expect(statesOf(account({ lastRun: ended('running', 2), drift }))).toEqual(['running']);
  });
});

describe('a list of accounts', () => {
  it('begins with those that need a person, the oldest of each state first, then follows their names', () => {
    const names = rankAccounts([
      account({ name: 'b-10' }),
      account({ name: 'b-2' }),
      account({ name: 'paused', pause: { ...PAUSE, since: '2026-11-20T05:00:00.000Z' } }),
      account({ name: 'paused-long', pause: { ...PAUSE, since: '2026-10-20T05:00:00.000Z' } }),
      account({ name: 'waiting', pending: PENDING }),
      account({ name: 'waiting-long', pending: { ...PENDING, since: '2026-11-20T05:00:00.000Z' } }),
      account({ name: 'failed', lastRun: ended('failed') }),
      account({ name: 'failed-long', lastRun: ended('failed'), lastSuccessAt: '2026-11-01T05:00:00.000Z' }),
      account({ name: 'failed-always', lastRun: ended('failed'), lastSuccessAt: null }),
      account({ name: 'invalid', valid: false }),
    ]).map((each) => each.account.name);
    expect(names).toEqual([
      'invalid',
      'failed-always',
      'failed-long',
      'failed',
      'waiting-long',
      'waiting',
      'paused-long',
      'paused',
      'b-2',
      'b-10',
    ]);
  });
});
