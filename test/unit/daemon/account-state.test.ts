// The order of a list of accounts.
import { describe, expect, it } from 'vitest';
import { rankAccounts } from '../../../src/daemon/account-state.ts';
import type { AccountFacts } from '../../../src/daemon/daemon-api.ts';

const PENDING = { digest: 'sha256:1', runId: 'r', since: '2026-11-21T05:00:00.000Z' };
const PAUSE = { since: '2026-11-21T05:00:00.000Z', by: 'sam', reason: null };

function account(parts: Partial<AccountFacts> = {}): AccountFacts {
  return {
    name: 'acme',
    region: 'eu',
    valid: true,
    serviceValid: true,
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
  return { status, startedAt: '2026-11-21T05:00:00.000Z', held, configCommit: null };
}

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
      account({ name: 'stopped', serviceValid: false }),
    ]).map((each) => each.account.name);
    expect(names).toEqual([
      'stopped',
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
