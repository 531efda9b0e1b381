// The state of one planned account: its sentence behind the name, why it failed or is blocked, and what to do next.
import type { FailedPlan, Plan, PlanResult } from '../core/plan.ts';
import { UNKNOWN_ACCOUNT } from '../core/plan.ts';
import { NOTHING_MANAGED } from '../core/plan-warnings.ts';
import { LIST_GUARDS } from '../core/list-plausibility.ts';
import { leaveCounts } from './change-sections.ts';
import { code, toned, type Line, type ReportDocument, type Tone } from './document.ts';
import { count, messageLines } from './formatting.ts';
import { changeCounts } from './plan-sentence.ts';
import { acceptListsStep, failureStep } from './run-status.ts';

/** The warnings that explain why a plan is blocked. */
const BLOCKING = new Set([...LIST_GUARDS, 'identity_mismatch']);

/** The document of an account that could not be planned. */
export function failedDocument({ account, error }: FailedPlan): ReportDocument {
  const isNew = error.code === UNKNOWN_ACCOUNT;
  return {
    title: [code(account)],
    status: isNew
      ? { label: 'new, not planned', tone: 'warn' }
      : { label: `could not be planned (${error.code})`, tone: 'bad' },
    headline: [],
    lines: messageLines(error.message),
    facts: [],
    sections: [],
    ...(isNew ? {} : { next: [failureStep(account, error.code, 'plan')] }),
  };
}

/** The command that accepts the lists of a blocked plan, if they are what blocks it. */
export function nextOf(plan: Plan): Pick<ReportDocument, 'next'> {
  return plan.status === 'blocked' && isAboutLists(plan) ? { next: [acceptListsStep(plan.account)] } : {};
}

function isAboutLists({ warnings }: Plan): boolean {
  return warnings.some(({ code: warning }) => LIST_GUARDS.has(warning));
}

/** A plan that changes and holds nothing is reported in one line. */
export function isQuiet(plan: PlanResult): boolean {
  return plan.status === 'planned' && plan.operations.length === 0 && plan.held.length === 0;
}

function managesNothing({ warnings }: Plan): boolean {
  return warnings.some((warning) => warning.code === NOTHING_MANAGED);
}

/** The sentence that matters, behind the name of the account. */
export function planStatus(plan: Plan): { readonly label: string; readonly tone: Tone } {
  if (plan.status === 'blocked')
    return { label: `blocked, nothing will be written: ${changeCounts(plan)}`, tone: 'bad' };
  if (!isQuiet(plan)) return { label: changeCounts(plan), tone: 'warn' };
  if (managesNothing(plan)) return { label: 'manages nothing', tone: 'warn' };
  return { label: `nothing to do; ${quietText(plan)}`, tone: 'good' };
}

function quietText({ summary: { keep, leave }, leftAlone }: Plan): string {
  const kept =
    keep === 0 ? 'everything matches the file' : `${count(keep, 'entry matches', 'entries match')} the file`;
  return leave === 0 ? kept : `${kept}, ${leave} left alone (${leaveCounts(leftAlone)})`;
}

/** Why a plan is blocked. */
export function blockedLines(plan: Plan): Line[] {
  const known = plan.warnings.filter((warning) => BLOCKING.has(warning.code));
  // A plan of another version may be blocked by what this one does not know.
  const why = known.length > 0 ? known : plan.warnings;
  if (why.length === 0) return [[toned('bad', 'Nothing will be written.')]];
  return [
    [toned('bad', 'Nothing will be written:')],
    ...why.flatMap((warning) => messageLines(warning.message)),
  ];
}
