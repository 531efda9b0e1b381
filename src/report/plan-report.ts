// The report of `plan`, which `apply` also shows before it asks: one document for each account.
import { NO_HISTORY, NOTHING_MANAGED } from '../core/plan-warnings.ts';
import {
  type Plan,
  type PlanResult,
  type FailedPlan,
  UNKNOWN_ACCOUNT,
  type PlanSummary,
} from '../core/plan.ts';
import { leftAloneSection, PLANNED, warningSection, leaveCounts } from './change-sections.ts';
import {
  code,
  type Fact,
  type Report,
  type ReportDocument,
  type ReportOptions,
  toned,
  type Line,
  type Tone,
  codeList,
} from './document.ts';
import { plannedSections } from './held-sections.ts';
import {
  planVerdict,
  summaryText,
  changeCounts,
  isQuiet,
  countsText,
  heldPeople,
  losingPeople,
  totalOf,
} from './plan-sentence.ts';
import { renderReport } from './render.ts';
import { shortCommit, count, messageLines } from './formatting.ts';
import { LIST_GUARDS } from '../core/list-plausibility.ts';
import { acceptListsStep, failureStep } from './run-status.ts';

/** With more accounts, text output counts those without changes instead of showing them. */
const MANY_ACCOUNTS = 10;

const BLOCKED = {
  lost: 'Not deleted because the plan is blocked, people have them',
  unused: 'Not deleted because the plan is blocked, nobody has them',
  unknown: 'Not deleted because the plan is blocked, nobody can tell who has them',
  create: 'Not created because the plan is blocked',
};

/**
 * The plans, in the given order, with a total when there are several. json is exactly the given array; the other formats
 * cut long lists after complete rows and count the rest.
 */
export function renderPlans(plans: readonly PlanResult[], options: ReportOptions): string {
  return renderReport(plans, () => planReport(plans, { ...options, accounts: plans.length }), options);
}

/**
 * One of several plans, where each is shown as soon as it is made. Empty for a plan that the report of all plans would
 * only count.
 */
export function renderPlanOf(accounts: number, plan: PlanResult, options: ReportOptions): string {
  const [document] = accountDocuments([plan], { ...options, accounts });
  if (document === undefined) return '';
  return renderReport([plan], () => ({ title: 'rolecall plan', documents: [document] }), options);
}

interface PlanReportOptions extends ReportOptions {
  /** The number of accounts that the command plans. */
  readonly accounts: number;
}

function planReport(plans: readonly PlanResult[], options: PlanReportOptions): Report {
  const title = 'rolecall plan';
  if (plans.length === 0) {
    return {
      title,
      documents: [{ title: ['No account to plan.'], facts: [], headline: [], sections: [] }],
    };
  }
  const verdict = planVerdict(plans);
  if (plans.length === 1 && options.onlyChanges !== true)
    return { title, verdict, documents: accountDocuments(plans, options) };
  const documents = [
    ...accountDocuments(plans, options),
    ...(collapses(options) ? collapsedAccounts(plans) : []),
  ];
  return { title, verdict, documents, total: planTotal(plans) };
}

function accountDocuments(plans: readonly PlanResult[], options: PlanReportOptions): ReportDocument[] {
  const shown = collapses(options) ? plans.filter((plan) => !isQuiet(plan)) : plans;
  return shown.map((plan) => planDocument(plan, options.hasLocalChanges));
}

/** Whether accounts without changes are counted instead of shown. */
function collapses({ format, accounts, onlyChanges = false, verbose = false }: PlanReportOptions): boolean {
  return onlyChanges || (format === 'text' && accounts > MANY_ACCOUNTS && !verbose);
}

/** The report model of one plan: first what matters most, so that a reader can stop at any point. */
export function planDocument(plan: PlanResult, hasLocalChanges = false): ReportDocument {
  if (plan.status === 'failed') return failedDocument(plan);
  const title = [code(plan.account)];
  const status = planStatus(plan);
  const completeBy = `rolecall plan ${plan.account} --verbose`;
  if (isQuiet(plan)) {
    // Without history deletes are held, which does not matter to a plan without any.
    const sections = warningSection(plan.warnings.filter((warning) => warning.code !== NO_HISTORY));
    return { title, status, headline: [], facts: [], sections, completeBy };
  }
  const isBlocked = plan.status === 'blocked';
  const titles = isBlocked ? BLOCKED : PLANNED;
  return {
    title,
    status,
    headline: isBlocked ? blockedLines(plan) : [],
    facts: planFacts(plan, hasLocalChanges),
    factsLast: true,
    sections: [
      ...plannedSections(plan, titles),
      ...warningSection(plan.warnings),
      ...leftAloneSection(plan.leftAlone),
    ],
    summary: [`${isBlocked ? 'Blocked, nothing will be written' : 'Plan'}: ${summaryText(plan.summary)}.`],
    completeBy,
    ...nextOf(plan),
  };
}

/** The facts that identify a plan. */
function planFacts(plan: Plan, hasLocalChanges: boolean): Fact[] {
  return [
    {
      label: 'Account id',
      line: plan.remoteAccountId === null ? ['not known yet'] : [code(plan.remoteAccountId)],
    },
    {
      label: 'Commit',
      line:
        plan.configCommit === null
          ? ['not in git']
          : [code(shortCommit(plan.configCommit)), hasLocalChanges ? ' with local changes' : ''],
    },
    { label: 'Plan digest', line: [code(plan.digest)] },
  ];
}

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

/** The accounts without changes, counted in one sentence; those with warnings of their own are named. */
export function collapsedAccounts(plans: readonly PlanResult[]): ReportDocument[] {
  const quiet = plans.flatMap((plan) => (plan.status === 'planned' && isQuiet(plan) ? [plan] : []));
  if (quiet.length === 0) return [];
  const keep = quiet.reduce((sum, { summary }) => sum + summary.keep, 0);
  const leave = quiet.reduce((sum, { summary }) => sum + summary.leave, 0);
  // Without history deletes are held, which does not matter to a plan without any.
  const warned = quiet.filter(({ warnings }) => warnings.some((warning) => warning.code !== NO_HISTORY));
  const counted = `${count(quiet.length, 'account has', 'accounts have')} nothing to do: ${count(keep, 'entry matches', 'entries match')} the files, ${leave} left alone.`;
  const named: Line = [
    toned('warn', `${count(warned.length, 'of them has', 'of them have')} warnings: `),
    codeList(warned.map(({ account }) => account)),
    '.',
  ];
  return [
    {
      title: [],
      headline: [[toned('good', counted)], ...(warned.length === 0 ? [] : [named])],
      facts: [],
      sections: [],
    },
  ];
}

/** The sum, and a table of the accounts that change or hold something or failed. */
export function planTotal(results: readonly PlanResult[]): NonNullable<Report['total']> {
  const plans = results.filter((result) => result.status !== 'failed');
  const notes = [
    ...noted(results.filter(isQuiet).length, 'with nothing to do'),
    ...noted(plans.filter(({ status }) => status === 'blocked').length, 'blocked'),
    ...noted(results.length - plans.length, 'could not be planned'),
  ];
  const right = (head: string) => ({ head, align: 'right' }) as const;
  return {
    line: [toned('strong', `${count(results.length, 'account')}: ${totalCounts(plans)}${notes.join('')}.`)],
    table: {
      columns: [
        { head: 'Account' },
        ...['Create', 'Delete', 'People', 'Held', 'Unchanged', 'Left alone'].map(right),
        { head: 'Status' },
      ],
      heads: true,
      rows: results.filter((result) => !isQuiet(result)).map(totalRow),
    },
  };
}

function noted(amount: number, what: string): string[] {
  return amount === 0 ? [] : [`; ${amount} ${what}`];
}

/** People are counted for each account, since their ids are unique within one only. */
function totalCounts(plans: readonly Plan[]): string {
  const sum = (key: keyof PlanSummary) => plans.reduce((total, plan) => total + plan.summary[key], 0);
  const counts = countsText(
    { create: sum('create'), delete: sum('delete'), hold: sum('hold') },
    totalOf(plans.map(losingPeople)) ?? { people: 0, unknown: 0 },
    totalOf(plans.map(heldPeople)),
  );
  return `${counts}, ${sum('keep')} unchanged, ${sum('leave')} left alone`;
}

function totalRow(result: PlanResult): Line[] {
  const account = [code(result.account)];
  if (result.status === 'failed')
    return [account, [], [], [], [], [], [], [toned('bad', `could not be planned (${result.error.code})`)]];
  const { create, delete: deletes, hold, keep, leave } = result.summary;
  const { people, unknown } = losingPeople(result);
  const losing = unknown === 0 ? people : people === 0 ? 'unknown' : `${people} or more`;
  const amounts = [create, deletes, losing, hold, keep, leave];
  return [account, ...amounts.map((amount) => [String(amount)]), rowStatus(result)];
}

function rowStatus(plan: Plan): Line {
  if (plan.status === 'blocked') return [toned('bad', 'blocked')];
  return [plan.operations.length > 0 ? 'changes' : 'only held changes'];
}
