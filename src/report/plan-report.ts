// The report of `plan`, which `apply` also shows before it asks: one document for each account.
import { NO_HISTORY, NOTHING_MANAGED, type Plan, type PlanResult, type PlanSummary } from '../core/plan.ts';
import { SUSPICIOUS_LIST } from '../core/list-plausibility.ts';
import type { Warning } from '../core/catalog.ts';
import {
  code,
  type Line,
  type Report,
  type ReportDetail,
  type ReportDocument,
  type ReportOptions,
  toned,
} from './document.ts';
import { type AccountDocument, foldDocuments, foldKey, isQuietLine, problemAccounts } from './fold.ts';
import { commitCode, count, messageLines, pageFact } from './formatting.ts';
import { leftAloneSection, plannedSections, warningSection } from './plan-sections.ts';
import { changeCounts, isQuiet, planVerdict, summaryText } from './plan-sentence.ts';
import { renderReport } from './render.tsx';
import { acceptListsStep, failedDocument } from './run-status.ts';

const TITLE = 'rolecall plan';
const SHOWN_ONCE = 'Equal changes of another account are not shown again.';

/**
 * The plans with a total when there are several: those that affect people first, and equal changes once. json is exactly
 * the given array; the other formats cut long lists after complete rows and count the rest.
 */
export function renderPlans(plans: readonly PlanResult[], options: ReportOptions): string {
  return renderReport(plans, () => planReport(plans, options), options);
}

/**
 * Prints each of several plans when it is made. Empty for a plan with nothing to do, and for changes that were printed
 * already.
 */
export function planPrinter(accounts: number, options: ReportOptions): (plan: Plan) => string {
  const printed = new Set<string>();
  const print = (document: ReportDocument, plan: Plan): string =>
    renderReport([plan], () => ({ title: TITLE, documents: [document] }), options);
  return (plan) => {
    const part = accountDocument(plan, options);
    const { document } = part;
    const key = foldKey(part, options.verbose);
    if (key === null || accounts === 1) return print(document, plan);
    if (isQuietLine(document) || printed.has(key)) return '';
    printed.add(key);
    return print({ ...document, headline: [[SHOWN_ONCE]] }, plan);
  };
}

function planReport(plans: readonly PlanResult[], options: ReportOptions): Report {
  if (plans.length === 0) return { title: TITLE, documents: [{ title: ['No account to plan.'] }] };
  const documents = plans.map((plan) => accountDocument(plan, options));
  return {
    title: TITLE,
    verdict: planVerdict(plans),
    documents: foldDocuments(documents, options.verbose),
    ...(plans.length === 1 ? {} : { total: planTotal(plans, options.verbose) }),
  };
}

function accountDocument(plan: PlanResult, detail: ReportDetail): AccountDocument {
  const isProblem = plan.status !== 'planned';
  const document = planDocument(plan, detail);
  return { account: plan.account, document, isProblem, plan: isProblem ? null : plan };
}

/** The report model of one plan: first what matters most, so that a reader can stop at any point. */
export function planDocument(
  plan: PlanResult,
  { hasLocalChanges = false, links, files }: ReportDetail = {},
): ReportDocument {
  if (plan.status === 'failed') return failedDocument(plan, 'plan');
  const { account, remoteAccountId, configCommit, summary, warnings } = plan;
  const opening = {
    title: [code(account)],
    status: planStatus(plan),
    completeBy: `rolecall plan ${account} --verbose`,
  };
  if (isQuiet(plan)) {
    // Without history deletes are held, which does not matter to a plan without any.
    const sections = warningSection(warnings.filter((warning) => warning.code !== NO_HISTORY));
    return { ...opening, sections };
  }
  const isBlocked = plan.status === 'blocked';
  const blockers = isBlocked ? blockersOf(plan) : [];
  const isAboutLists = warnings.some((warning) => warning.code === SUSPICIOUS_LIST);
  const changed = hasLocalChanges ? ' with local changes' : '';
  return {
    ...opening,
    headline: blockers.flatMap(({ code: each, message }) => [
      [toned('bad', 'Nothing will be written (', code(each), '):')],
      ...messageLines(message),
    ]),
    sections: [
      ...plannedSections(plan, files?.get(account)),
      ...warningSection(warnings.filter((warning) => !blockers.includes(warning))),
      ...leftAloneSection(plan.leftAlone),
    ],
    summary: [`${isBlocked ? 'Blocked, nothing will be written' : 'Plan'}: ${summaryText(summary)}.`],
    facts: [
      { label: 'Account id', line: [remoteAccountId === null ? 'not known yet' : code(remoteAccountId)] },
      {
        label: 'Commit',
        isShared: true,
        line: configCommit === null ? ['not in git'] : [commitCode(configCommit, links), changed],
      },
      { label: 'Plan digest', line: [code(plan.digest)] },
      ...pageFact(account, links),
    ],
    next: isBlocked && isAboutLists ? [acceptListsStep(account)] : [],
  };
}

/** The sentence that matters, behind the name of the account. */
function planStatus(plan: Plan): NonNullable<ReportDocument['status']> {
  if (plan.status === 'blocked')
    return { label: `blocked, nothing will be written: ${changeCounts(plan)}`, tone: 'bad' };
  const { keep, leave, delete: deletes, hold } = plan.summary;
  if (!isQuiet(plan)) return { label: changeCounts(plan), tone: deletes + hold > 0 ? 'warn' : 'strong' };
  if (plan.warnings.some((warning) => warning.code === NOTHING_MANAGED))
    return { label: 'manages nothing', tone: 'warn' };
  const kept = count(keep, 'entry matches', 'entries match');
  const left = leave === 0 ? '' : `, ${leave} left alone`;
  return { label: 'nothing to do', own: `; ${kept} the file${left}`, tone: 'good' };
}

/** Why a plan is blocked. */
function blockersOf({ warnings }: Plan): readonly Warning[] {
  const known = warnings.filter(({ code: each }) => each === SUSPICIOUS_LIST || each === 'identity_mismatch');
  // A plan of another version may be blocked by what this one does not know.
  return known.length > 0 ? known : warnings;
}

/** The sum. People are counted for each account, since their ids are unique within one only. */
function planTotal(results: readonly PlanResult[], verbose?: boolean): Line {
  const plans = results.filter((result) => result.status !== 'failed');
  const sum = (key: keyof PlanSummary) => plans.reduce((total, plan) => total + plan.summary[key], 0);
  const withStatus = (status: PlanResult['status']) => results.filter((each) => each.status === status);
  const quiet = results.filter(isQuiet).length;
  return [
    `${count(results.length, 'account')}: ${changeCounts(...plans.filter(({ status }) => status === 'planned'))}, ${sum('keep')} unchanged, ${sum('leave')} left alone`,
    quiet === 0 ? '' : `; ${quiet} with nothing to do`,
    ...problemAccounts('blocked', withStatus('blocked'), verbose),
    ...problemAccounts('could not be planned', withStatus('failed'), verbose),
    '.',
  ];
}
