// Whether a plan may be applied: which plans need an approval, and which warning reports a lapsed one.
import { describe, expect, it } from 'vitest';
import { takeApproval } from '../../../src/run/approval.ts';
import type { ApprovalTaking } from '../../../src/core/operator.ts';
import { bareRequest } from './bare-context.ts';
import { bareRun } from './bare-run.ts';

const LAPSED = { type: 'lapsed', digest: 'sha256:old', reason: 'changed' } as const;

/** The verdict on a plan that writes, or that does not. */
async function verdictOf(
  mode: 'plan' | 'approve' | 'apply',
  approval: ApprovalTaking,
  writes: boolean,
  areListsGood = true,
) {
  const run = bareRun({}, { approval });
  const request = bareRequest({ skill: writes ? [{ name: 'New', formerly: [] }] : [] });
  const result = await run.plan(request);
  if (!('plan' in result) || result.plan === null) throw new Error('there is no plan');
  const planned = { plan: result.plan, areListsGood };
  const state = await run.deps.journal.accountState(request.settings.name);
  return await takeApproval({ request, deps: run.deps, runId: result.runId, state }, planned, mode);
}

describe('the approval of a plan', () => {
  it.each<['approve' | 'apply', ApprovalTaking, boolean, string, string[]]>([
    ['apply', { type: 'none' }, true, 'free', []],
    ['approve', { type: 'none' }, true, 'waits', []],
    ['approve', { type: 'none' }, false, 'free', []],
    ['approve', { type: 'taken' }, true, 'approved', []],
    ['approve', LAPSED, true, 'waits', ['approval_lapsed']],
    ['approve', LAPSED, false, 'free', ['approval_lapsed']],
    ['apply', LAPSED, true, 'free', ['approval_lapsed']],
  ])(
    'in mode %s, where the journal has %j and the plan writes (%s), is %s',
    async (mode, approval, writes, verdict, codes) => {
      const taken = await verdictOf(mode, approval, writes);
      expect([taken.verdict, taken.warnings.map(({ code }) => code)]).toEqual([verdict, codes]);
    },
  );

  it.each([
    ['changed', 'changed since'],
    ['expired', '24 hours'],
  ] as const)('says why it has lapsed: %s', async (reason, text) => {
    const taken = await verdictOf('approve', { ...LAPSED, reason }, true);
    expect(taken.warnings[0]?.message).toContain(text);
  });

  it.each([
    ['apply', false, 'approved'],
    ['approve', false, 'approved'],
    // A dry run writes nothing, so its approval can only mean the lists.
    ['plan', true, 'approved'],
    // What is approved here are the creates, not the lists.
    ['apply', true, 'free'],
  ] as const)(
    'in mode %s, with lists that are not good and a plan that has operations (%s), is %s',
    async (mode, writes, verdict) => {
      expect((await verdictOf(mode, { type: 'taken' }, writes, false)).verdict).toBe(verdict);
      expect((await verdictOf(mode, { type: 'none' }, false, false)).verdict).toBe('free');
    },
  );
});
