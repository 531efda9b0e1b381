// The order of a list of accounts.
import { describe, expect, it } from 'vitest';
import { rankAccounts } from '../../../../src/daemon/http/pages/accounts-page.tsx';
import type { RunStatus } from '../../../../src/core/journal.ts';
import { makeRun } from '../../report/samples.ts';
import { makeAccount } from './stage.ts';

const PENDING = { digest: 'sha256:1', runId: 'r', since: '2026-11-21T05:00:00.000Z' };
const PAUSE = { since: '2026-11-21T05:00:00.000Z', by: 'sam', reason: null };

function ended(status: RunStatus) {
  return makeRun({ status });
}

describe('a list of accounts', () => {
  it('begins with those that need a person, the oldest of each state first, then follows their names', () => {
    const names = rankAccounts([
      makeAccount('b-10'),
      makeAccount('b-2'),
      makeAccount('paused', { pause: { ...PAUSE, since: '2026-11-20T05:00:00.000Z' } }),
      makeAccount('paused-long', { pause: { ...PAUSE, since: '2026-10-20T05:00:00.000Z' } }),
      makeAccount('waiting', { pending: PENDING }),
      makeAccount('waiting-long', { pending: { ...PENDING, since: '2026-11-20T05:00:00.000Z' } }),
      makeAccount('failed', { lastRun: ended('failed') }),
      makeAccount('failed-long', { lastRun: ended('failed'), lastSuccessAt: '2026-11-01T05:00:00.000Z' }),
      makeAccount('failed-always', { lastRun: ended('failed'), lastSuccessAt: null }),
      makeAccount('invalid', { valid: false }),
      makeAccount('stopped', { serviceValid: false }),
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
