// The report of `plan`, which `apply` also shows before it asks: one document for each account.
import { LIST_GUARDS } from '../core/list-plausibility.ts';
import { NO_HISTORY, NOTHING_MANAGED } from '../core/plan-warnings.ts';
import type { Plan, PlanResult, PlanSummary } from '../core/plan.ts';
import { code, type Line, type Report, type ReportDocument, type ReportOptions, toned } from './document.ts';
import { count, messageLines, shortCommit } from './formatting.ts';
import { leftAloneSection, plannedSections, warningSection } from './plan-sections.ts';
import {
  changeCounts,
  isQuiet,
  losingPeople,
  planVerdict,
  summaryText,
  totalCounts,
} from './plan-sentence.ts';
import { renderReport } from './render.ts';
import { acceptListsStep, failedDocument } from './run-status.ts';

/** With more accounts, those with nothing to do are counted instead of shown. */
const MANY_ACCOUNTS = 10;
const TITLE = 'rolecall plan';

/**
 * The plans, in the given order, with a total when there are several. json is exactly the given array; the other formats
 * cut long lists after complete rows and count the rest.
 */
export function renderPlans(plans: readonly PlanResult[], options: ReportOptions): string {
  return renderReport(plans, () => planReport(plans, options), options);
}

/**
 * One of several plans, where each is shown as soon as it is made. Empty for a plan that the report of all plans would
 * only count.
 */
export function renderPlanOf(accounts: number, plan: PlanResult, options: ReportOptions): string {
  const documents = planDocuments([plan], accounts, options);
  return documents.length === 0 ? '' : renderReport([plan], () => ({ title: TITLE, documents }), options);
}

function planReport(plans: readonly PlanResult[], options: ReportOptions): Report {
  if (plans.length === 0) return { title: TITLE, documents: [{ title: ['No account to plan.'] }] };
  return {
    title: TITLE,
    verdict: planVerdict(plans),
    documents: planDocuments(plans, plans.length, options),
    ...(plans.length === 1 ? {} : { total: planTotal(plans) }),
  };
}

function planDocuments(
  plans: readonly PlanResult[],
  accounts: number,
  { verbose = false, hasLocalChanges }: ReportOptions,
): ReportDocument[] {
  const documents = plans.map((plan) => planDocument(plan, hasLocalChanges));
  const hidesQuiet = accounts > MANY_ACCOUNTS && !verbose;
  return hidesQuiet
    ? documents.filter(({ status, sections = [] }) => status?.tone !== 'good' || sections.length > 0)
    : documents;
}

/** The report model of one plan: first what matters most, so that a reader can stop at any point. */
export function planDocument(plan: PlanResult, hasLocalChanges = false): ReportDocument {
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
  const isAboutLists = warnings.some((warning) => LIST_GUARDS.has(warning.code));
  const changed = hasLocalChanges ? ' with local changes' : '';
  return {
    ...opening,
    headline: isBlocked ? blockedLines(plan) : [],
    sections: [
      ...plannedSections(plan, isBlocked),
      ...warningSection(warnings),
      ...leftAloneSection(plan.leftAlone),
    ],
    summary: [`${isBlocked ? 'Blocked, nothing will be written' : 'Plan'}: ${summaryText(summary)}.`],
    facts: [
      { label: 'Account id', line: [remoteAccountId === null ? 'not known yet' : code(remoteAccountId)] },
      {
        label: 'Commit',
        line: configCommit === null ? ['not in git'] : [code(shortCommit(configCommit)), changed],
      },
      { label: 'Plan digest', line: [code(plan.digest)] },
    ],
    next: isBlocked && isAboutLists ? [acceptListsStep(account)] : [],
  };
}

/** The sentence that matters, behind the name of the account. */
function planStatus(plan: Plan): NonNullable<ReportDocument['status']> {
  if (plan.status === 'blocked')
    return { label: `blocked, nothing will be written: ${changeCounts(plan)}`, tone: 'bad' };
  if (!isQuiet(plan)) return { label: changeCounts(plan), tone: 'warn' };
  if (plan.warnings.some((warning) => warning.code === NOTHING_MANAGED))
    return { label: 'manages nothing', tone: 'warn' };
  const { keep, leave } = plan.summary;
  const kept = count(keep, 'entry matches', 'entries match');
  const left = leave === 0 ? '' : `, ${leave} left alone`;
  return { label: `nothing to do; ${kept} the file${left}`, tone: 'good' };
}

/** Why a plan is blocked. */
function blockedLines({ warnings }: Plan): Line[] {
  const known = warnings.filter(({ code: each }) => LIST_GUARDS.has(each) || each === 'identity_mismatch');
  // A plan of another version may be blocked by what this one does not know.
  const why = known.length > 0 ? known : warnings;
  return [[toned('bad', 'Nothing will be written:')], ...why.flatMap(({ message }) => messageLines(message))];
}

/**
 * The sum, and a table of the accounts that change or hold something or failed. People are counted for each account, since
 * their ids are unique within one only.
 */
function planTotal(results: readonly PlanResult[]): NonNullable<Report['total']> {
  const plans = results.filter((result) => result.status !== 'failed');
  const sum = (key: keyof PlanSummary) => plans.reduce((total, plan) => total + plan.summary[key], 0);
  const notes = [
    [results.filter(isQuiet).length, 'with nothing to do'],
    [plans.filter(({ status }) => status === 'blocked').length, 'blocked'],
    [results.length - plans.length, 'could not be planned'],
  ].map(([amount, what]) => (amount === 0 ? '' : `; ${amount} ${what}`));
  const line = `${count(results.length, 'account')}: ${totalCounts(plans)}, ${sum('keep')} unchanged, ${sum('leave')} left alone${notes.join('')}.`;
  const right = (head: string) => ({ head, align: 'right' }) as const;
  return {
    line: [toned('strong', line)],
    table: {
      columns: [
        { head: 'Account' },
        ...['Create', 'Delete', 'People', 'Held'].map(right),
        { head: 'Status' },
      ],
      heads: true,
      rows: results.filter((result) => !isQuiet(result)).map(totalRow),
    },
  };
}

function totalRow(result: PlanResult): Line[] {
  const account = [code(result.account)];
  if (result.status === 'failed')
    return [account, [], [], [], [], [toned('bad', `could not be planned (${result.error.code})`)]];
  const { create, delete: deletes, hold } = result.summary;
  const { people, unknown } = losingPeople(result);
  const losing = unknown === 0 ? people : people === 0 ? 'unknown' : `${people} or more`;
  const amounts = [create, deletes, losing, hold].map((amount) => [String(amount)]);
  if (result.status === 'blocked') return [account, ...amounts, [toned('bad', 'blocked')]];
  return [account, ...amounts, [create + deletes > 0 ? 'changes' : 'only held changes']];
}
