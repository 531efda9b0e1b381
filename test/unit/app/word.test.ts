// Whether a plan may be carried out: whose word it needs, and what is said of a word that has lapsed.
import { describe, expect, it } from 'vitest';
import { askForWord } from '../../../src/app/approval.ts';
import type { ApprovalTaking } from '../../../src/core/operator.ts';
import { bareRequest } from './bare-context.ts';
import { bareRun } from './bare-run.ts';

const LAPSED = { type: 'lapsed', digest: 'sha256:old', reason: 'changed' } as const;

/** Asks for the word of a plan that would write, or would not. */
async function wordOf(mode: 'approve' | 'apply', approval: ApprovalTaking, writes: boolean) {
  const run = bareRun({}, { approval });
  const request = bareRequest({ skill: writes ? [{ name: 'New', formerly: [] }] : [] });
  const result = await run.plan(request);
  if (!('plan' in result) || result.plan === null) throw new Error('there is no plan');
  return await askForWord(result.plan, mode, request, run.deps);
}

describe('the word for a plan', () => {
  it.each<['approve' | 'apply', ApprovalTaking, boolean, string, string[]]>([
    ['apply', { type: 'none' }, true, 'free', []],
    ['approve', { type: 'none' }, true, 'waits', []],
    ['approve', { type: 'none' }, false, 'free', []],
    ['approve', { type: 'taken' }, true, 'approved', []],
    ['approve', LAPSED, true, 'waits', ['approval_lapsed']],
    ['approve', LAPSED, false, 'free', ['approval_lapsed']],
    ['apply', LAPSED, true, 'free', ['approval_lapsed']],
  ])('in mode %s with %j, writing: %s', async (mode, approval, writes, verdict, codes) => {
    const word = await wordOf(mode, approval, writes);
    expect([word.verdict, word.warnings.map(({ code }) => code)]).toEqual([verdict, codes]);
  });
});
