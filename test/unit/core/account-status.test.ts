// The one word for the state of an account.
import { expect, it } from 'vitest';
import { accountStateOf, type StatusFacts } from '../../../src/core/account-status.ts';
import type { RunRecord } from '../../../src/core/journal.ts';
import type { AccountState } from '../../../src/core/ports.ts';
import { runDetail, T0 } from './run-details.ts';

const STATE: AccountState = {
  remoteAccountId: '42',
  pause: null,
  throttledUntilMs: null,
  lastAppliedCommit: null,
  pending: null,
  approval: null,
  consecutiveFailures: 0,
};
const PENDING = { digest: 'sha256:p', runId: 'r', sinceMs: T0 };
const APPROVAL = { digest: 'sha256:p', by: 'sam', givenAtMs: T0, expiresAtMs: T0 + 1000 };
const PAUSE = { sinceMs: T0, by: 'sam', reason: null };
const DRIFT = { create: 1, delete: 0 };
const NONE = { create: 0, delete: 0 };

function stateOf(
  run: Partial<RunRecord> | null,
  { state = {}, ...facts }: Partial<StatusFacts> & { readonly state?: Partial<AccountState> } = {},
): string {
  const lastRun = run === null ? null : { ...runDetail(1).run, ...run };
  const record = { name: 'acme', state: { ...STATE, ...state }, lastRun, lastSuccessAt: null, remaining: null };
  return accountStateOf({ isConfigured: true, isValid: true, record, remaining: NONE, nowMs: T0, ...facts });
}

it.each([
  ['converged', stateOf({})],
  ['converged', stateOf({ status: 'planned' })],
  ['drift', stateOf({ status: 'planned' }, { remaining: DRIFT })],
  ['drift', stateOf({ status: 'planned', held: 2 }, { remaining: DRIFT })],
  ['held', stateOf({ status: 'held', held: 2 })],
  ['failed', stateOf({ status: 'failed' }, { state: { pause: PAUSE, pending: PENDING } })],
  ['blocked', stateOf({ status: 'blocked' }, { state: { pending: PENDING } })],
  ['waiting', stateOf({ status: 'planned' }, { state: { pending: PENDING }, remaining: DRIFT })],
  ['approved', stateOf({ status: 'planned' }, { state: { pending: PENDING, approval: APPROVAL } })],
  // An approval that expired, and one of an earlier plan, approve nothing.
  ['waiting', stateOf({}, { state: { pending: PENDING, approval: APPROVAL }, nowMs: T0 + 1000 })],
  ['waiting', stateOf({}, { state: { pending: PENDING, approval: { ...APPROVAL, digest: 'sha256:o' } } })],
  // A plan that is being applied waits for nobody, and what a run is about to do is no drift.
  [
    'running',
    stateOf({ status: 'running', planDigest: 'sha256:p' }, { state: { pending: PENDING }, remaining: DRIFT }),
  ],
  ['waiting', stateOf({ status: 'running', planDigest: null }, { state: { pending: PENDING } })],
  ['paused', stateOf({}, { state: { pause: PAUSE } })],
  ['paused', stateOf(null, { state: { pause: PAUSE } })],
  ['invalid', stateOf({ status: 'failed' }, { isValid: false })],
  ['unknown', stateOf({ status: 'planned' }, { remaining: null })],
  ['new', stateOf(null)],
  [
    'new',
    accountStateOf({ isConfigured: true, isValid: true, record: undefined, remaining: null, nowMs: T0 }),
  ],
  ['removed', stateOf({ status: 'failed' }, { isConfigured: false })],
])('the state of an account is %s', (expected, found) => {
  expect(found).toBe(expected);
});
