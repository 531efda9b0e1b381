// The states of an account, and what they are decided by: the plan that waits, and its approval.
import { describe, expect, it } from 'vitest';
import { approvalOf, type StateFacts, statesOf, waitingPlan } from '../../../src/core/account-states.ts';
import type { RunStatus } from '../../../src/core/journal.ts';
import { APPROVAL_LIFE_MS } from '../../../src/core/operator.ts';
import { T0 } from './run-details.ts';

const ended = (status: RunStatus, held = 0) => ({ status, held });
const NONE = { create: 0, delete: 0 };
const DRIFT = { create: 0, delete: 1 };

const PAUSE = { pause: {} };
const WAITING = { pending: { digest: 'sha256:p' } };
const APPROVED = { ...WAITING, approved: { digest: 'sha256:p' } };

function states(facts: Partial<StateFacts>) {
  return statesOf({
    serviceValid: true,
    valid: true,
    activity: 'idle',
    pause: null,
    pending: null,
    approved: null,
    lastRun: ended('converged'),
    drift: null,
    ...facts,
  });
}

describe('the states of an account', () => {
  it.each([
    [states({}), ['converged']],
    [states({ lastRun: null }), ['new']],
    [states({ lastRun: null, ...PAUSE }), ['paused', 'new']],
    [states({ lastRun: null, activity: 'running' }), ['running']],
    [states({ lastRun: null, activity: 'queued' }), ['queued', 'new']],
    [states({ lastRun: ended('failed'), ...PAUSE }), ['failed', 'paused']],
    [states({ lastRun: ended('blocked'), ...WAITING }), ['blocked', 'waiting']],
    [states({ lastRun: ended('held', 2), activity: 'queued' }), ['held', 'queued']],
    [states({ valid: false, lastRun: ended('blocked') }), ['invalid', 'blocked']],
    [states({ serviceValid: false, lastRun: ended('failed') }), ['service_invalid', 'failed']],
    [states({ lastRun: ended('planned'), drift: NONE }), ['converged']],
    [states({ lastRun: ended('planned'), drift: DRIFT }), ['drift']],
    [states({ lastRun: ended('planned', 2), drift: DRIFT }), ['drift', 'held']],
    [states({ lastRun: ended('planned'), drift: DRIFT, ...WAITING }), ['waiting']],
    [states({ lastRun: ended('planned'), drift: DRIFT, ...APPROVED }), ['approved']],
    [states({ lastRun: ended('planned') }), ['unknown']],
    // An approval of another plan approves nothing.
    [states({ ...WAITING, approved: { digest: 'sha256:other' } }), ['waiting']],
    // A newer version may have written a status that this one lacks.
    [states({ lastRun: ended('rested' as 'held') }), ['unknown']],
    // A run in progress leaves none of what the plan before it showed, whoever started it.
    [states({ lastRun: ended('running', 2), drift: DRIFT }), ['running']],
    [states({ lastRun: ended('held', 2), drift: DRIFT, ...APPROVED, activity: 'running' }), ['running']],
    [states({ lastRun: ended('running'), ...WAITING }), ['waiting', 'running']],
    [states({ configured: false, lastRun: ended('failed') }), ['removed']],
  ])('are those that are true of it, the most urgent first (%#)', (found, expected) => {
    expect(found).toEqual(expected);
  });
});

const PENDING = { digest: 'sha256:p', runId: 'r', sinceMs: T0 };
const APPROVAL = { digest: 'sha256:p', by: 'sam', givenAtMs: T0, expiresAtMs: T0 + 1000 };

it('a plan waits for approval until a run applies it', () => {
  const run = (status: RunStatus, planDigest: string | null) =>
    waitingPlan({ pending: PENDING, lastRun: { status, planDigest } });
  expect(waitingPlan({ pending: PENDING, lastRun: null })).toBe(PENDING);
  expect(run('planned', PENDING.digest)).toBe(PENDING);
  expect(run('running', null)).toBe(PENDING);
  expect(run('running', PENDING.digest)).toBeNull();
  expect(waitingPlan({ pending: null, lastRun: { status: 'running', planDigest: null } })).toBeNull();
});

it('an approval holds for the pending plan only, until it expires', () => {
  expect(approvalOf({ pending: PENDING, approval: APPROVAL }, T0 + 999)).toBe(APPROVAL);
  expect(approvalOf({ pending: PENDING, approval: APPROVAL }, T0 + 1000)).toBeNull();
  // The clock was set back since: a plan that nobody looks at any more must not be applied some year.
  expect(approvalOf({ pending: PENDING, approval: APPROVAL }, T0 - APPROVAL_LIFE_MS)).toBe(APPROVAL);
  expect(approvalOf({ pending: PENDING, approval: APPROVAL }, T0 - APPROVAL_LIFE_MS - 1)).toBeNull();
  expect(approvalOf({ pending: PENDING, approval: { ...APPROVAL, digest: 'sha256:o' } }, T0)).toBeNull();
  expect(approvalOf({ pending: null, approval: APPROVAL }, T0)).toBeNull();
  expect(approvalOf({ pending: PENDING, approval: null }, T0)).toBeNull();
});
