// The report of `plan`, which `apply` also shows before it asks: one document for each account.
import type { Plan, PlanResult, PlanSummary } from '../core/plan.ts';
import { UNKNOWN_ACCOUNT } from '../core/plan.ts';
import { NOTHING_MANAGED } from '../core/plan-warnings.ts';
import { LIST_GUARDS } from '../core/list-plausibility.ts';
import {
  heldSection,
  leaveCounts,
  leftAloneSection,
  operationSections,
  warningSection,
} from './change-sections.ts';
import {
  code,
  toned,
  type Fact,
  type Line,
  type Report,
  type ReportDocument,
  type ReportOptions,
  type Tone,
} from './document.ts';
import { renderReport } from './render.ts';
import { acceptListsStep, failureStep } from './run-status.ts';
import { count, messageLines, people, shortCommit } from './formatting.ts';

/** The warnings that explain why a plan is blocked. */
const BLOCKING = new Set([...LIST_GUARDS, 'identity_mismatch']);
const TITLES = { create: 'To create', delete: 'To delete' };
const BLOCKED_TITLES = {
  create: 'Not created because the plan is blocked',
  delete: 'Not deleted because the plan is blocked',
};

/**
 * The plans, in the given order, with a total when there are several. json is exactly the given array; text and
 * markdown cut long lists after complete rows and count the rest.
 */
export function renderPlans(plans: readonly PlanResult[], options: ReportOptions): string {
  return renderReport(plans, () => planReport(plans), options);
}

/** The report model of the plans. */
function planReport(plans: readonly PlanResult[]): Report {
  const documents = plans.map(planDocument);
  if (plans.length === 0) {
    return {
      title: 'rolecall plan',
      documents: [{ title: ['No account to plan.'], facts: [], headline: [], sections: [] }],
    };
  }
  return { title: 'rolecall plan', documents, ...(plans.length > 1 ? { total: planTotal(plans) } : {}) };
}

/** The report model of one plan. */
export function planDocument(plan: PlanResult): ReportDocument {
  const title = [code(plan.account)];
  if (plan.status === 'failed' && plan.error.code === UNKNOWN_ACCOUNT) {
    return {
      title,
      status: { label: 'new, not planned', tone: 'warn' },
      headline: [],
      lines: messageLines(plan.error.message),
      facts: [],
      sections: [],
    };
  }
  if (plan.status === 'failed') {
    return {
      title,
      status: { label: `could not be planned (${plan.error.code})`, tone: 'bad' },
      headline: [],
      lines: messageLines(plan.error.message),
      facts: [],
      sections: [],
      next: [failureStep(plan.account, plan.error.code, 'plan')],
    };
  }
  const status = planStatus(plan);
  const warnings = warningSection(plan.warnings);
  if (isQuiet(plan)) {
    const headline = managesNothing(plan) ? [] : [quietLine(plan)];
    return { title, status, headline, facts: [], sections: warnings };
  }
  const isBlocked = plan.status === 'blocked';
  return {
    title,
    status,
    headline: isBlocked ? blockedLines(plan) : [],
    facts: planFacts(plan),
    sections: [
      ...operationSections(plan.operations, isBlocked ? BLOCKED_TITLES : TITLES),
      ...heldSection(plan),
      ...leftAloneSection(plan.leftAlone),
      ...warnings,
    ],
    summary: [`${isBlocked ? 'Blocked, nothing will be written' : 'Plan'}: ${summaryText(plan.summary)}.`],
    ...(isBlocked && isAboutLists(plan) ? { next: [acceptListsStep(plan.account)] } : {}),
  };
}

function isAboutLists({ warnings }: Plan): boolean {
  return warnings.some(({ code: warning }) => LIST_GUARDS.has(warning));
}

/** A plan that changes and holds nothing is reported in one line. */
function isQuiet(plan: Plan): boolean {
  return plan.status === 'planned' && plan.operations.length === 0 && plan.held.length === 0;
}

function managesNothing({ warnings }: Plan): boolean {
  return warnings.some((warning) => warning.code === NOTHING_MANAGED);
}

/** The most important facts: how many creates and deletes, how many people they affect, and how many are held. */
function planStatus(plan: Plan): { label: string; tone: Tone } {
  const label = `${planLabel(plan)}: ${changeCounts(plan)}`;
  if (plan.status === 'blocked') return { label, tone: 'bad' };
  const isWaiting = plan.operations.length + plan.held.length > 0;
  if (isWaiting) return { label, tone: 'warn' };
  return { label: planLabel(plan), tone: managesNothing(plan) ? 'warn' : 'good' };
}

function planLabel(plan: Plan): string {
  if (plan.status === 'blocked') return 'blocked';
  if (plan.operations.length > 0) return 'changes';
  if (plan.held.length > 0) return 'only held changes';
  return managesNothing(plan) ? 'manages nothing' : 'nothing to do';
}

/** `3 to create, 2 to delete (4 people affected), 1 held`. */
function changeCounts({ summary, operations }: Plan): string {
  const holders = new Set(operations.flatMap(({ usedBy = [] }) => usedBy)).size;
  const affected = holders === 0 ? '' : ` (${people(holders)} affected)`;
  return `${summary.create} to create, ${summary.delete} to delete${affected}, ${summary.hold} held`;
}

function quietLine(plan: Plan): Line {
  const { keep, leave } = plan.summary;
  const kept =
    keep === 0 ? 'Everything matches the file' : `${count(keep, 'entry matches', 'entries match')} the file`;
  return [leave === 0 ? `${kept}.` : `${kept}; ${leave} left alone (${leaveCounts(plan.leftAlone)}).`];
}

function blockedLines(plan: Plan): Line[] {
  const why = plan.warnings.filter((warning) => BLOCKING.has(warning.code));
  if (why.length === 0) return [[toned('bad', 'Nothing will be written; see the warnings below.')]];
  return [
    [toned('bad', 'Nothing will be written:')],
    ...why.flatMap((warning) => messageLines(warning.message)),
  ];
}

/** The facts that identify a plan. */
function planFacts(plan: Plan): Fact[] {
  return [
    {
      label: 'Account id',
      line: plan.remoteAccountId === null ? ['not known yet'] : [code(plan.remoteAccountId)],
    },
    {
      label: 'Commit',
      line: plan.configCommit === null ? ['not in git'] : [code(shortCommit(plan.configCommit))],
    },
    { label: 'Plan digest', line: [code(plan.digest)] },
  ];
}

/** `3 to create, 2 to delete, 1 held, 412 unchanged, 4 left alone`. */
export function summaryText(summary: PlanSummary): string {
  return [
    `${summary.create} to create`,
    `${summary.delete} to delete`,
    `${summary.hold} held`,
    `${summary.keep} unchanged`,
    `${summary.leave} left alone`,
  ].join(', ');
}

function planTotal(results: readonly PlanResult[]): NonNullable<Report['total']> {
  const plans = results.filter((result) => result.status !== 'failed');
  const failed = results.length - plans.length;
  const blocked = plans.filter((plan) => plan.status === 'blocked').length;
  const sum = (key: keyof PlanSummary): number => plans.reduce((total, plan) => total + plan.summary[key], 0);
  const summary = {
    create: sum('create'),
    delete: sum('delete'),
    hold: sum('hold'),
    keep: sum('keep'),
    leave: sum('leave'),
  };
  const problems = [
    ...(blocked > 0 ? [`; ${blocked} blocked`] : []),
    ...(failed > 0 ? [`; ${failed} could not be planned`] : []),
  ];
  const right = (head: string) => ({ head, align: 'right' }) as const;
  return {
    line: [toned('strong', `${results.length} accounts: ${summaryText(summary)}${problems.join('')}.`)],
    table: {
      columns: [
        { head: 'Account' },
        { head: 'Status' },
        ...['Create', 'Delete', 'Held', 'Unchanged', 'Left alone'].map(right),
      ],
      rows: results.map((plan): Line[] => {
        if (plan.status === 'failed')
          return [[code(plan.account)], ['could not be planned'], [], [], [], [], []];
        const { create, delete: deletes, hold, keep, leave } = plan.summary;
        return [
          [code(plan.account)],
          [planLabel(plan)],
          ...[create, deletes, hold, keep, leave].map((n) => [String(n)]),
        ];
      }),
    },
  };
}
