// The end of a report of several plans: the accounts without changes, counted, the warnings that accounts share, and a
// table of the other accounts.
import type { Warning } from '../core/catalog.ts';
import type { Plan, PlanResult, PlanSummary } from '../core/plan.ts';
import {
  code,
  codeList,
  toned,
  type Line,
  type Report,
  type ReportDocument,
  type Section,
} from './document.ts';
import { count } from './formatting.ts';
import { countsText, heldPeople, losingPeople, totalOf } from './plan-sentence.ts';
import { isQuiet } from './plan-status.ts';

/** Several plans without the warnings that at least two of them have, and these warnings. */
export interface SharedWarnings {
  readonly plans: readonly PlanResult[];
  readonly shared: readonly SharedWarning[];
}

interface SharedWarning {
  readonly warning: Warning;
  readonly accounts: readonly string[];
}

/** Takes the warnings that several plans have out of them, so that they are reported once. */
export function withSharedWarnings(plans: readonly PlanResult[]): SharedWarnings {
  const byKey = new Map<string, { warning: Warning; accounts: string[] }>();
  for (const plan of plans) {
    // What blocks a plan is reported with it.
    if (plan.status !== 'planned') continue;
    for (const warning of plan.warnings) {
      if (warning.name !== undefined || warning.remoteId !== undefined) continue;
      const found = byKey.get(keyOf(warning));
      if (found === undefined) byKey.set(keyOf(warning), { warning, accounts: [plan.account] });
      else found.accounts.push(plan.account);
    }
  }
  const shared = [...byKey.values()].filter(({ accounts }) => accounts.length > 1);
  const isShared = new Set(shared.map(({ warning }) => keyOf(warning)));
  return {
    shared,
    plans: plans.map((plan) =>
      plan.status === 'planned'
        ? { ...plan, warnings: plan.warnings.filter((warning) => !isShared.has(keyOf(warning))) }
        : plan,
    ),
  };
}

function keyOf({ code: warning, message, name, remoteId }: Warning): string {
  return JSON.stringify([warning, message, name, remoteId]);
}

/** The accounts without changes, counted in one sentence; those with warnings of their own are named. */
export function collapsedAccounts(plans: readonly PlanResult[]): ReportDocument[] {
  const quiet = plans.flatMap((plan) => (plan.status === 'planned' && isQuiet(plan) ? [plan] : []));
  if (quiet.length === 0) return [];
  const keep = quiet.reduce((sum, { summary }) => sum + summary.keep, 0);
  const leave = quiet.reduce((sum, { summary }) => sum + summary.leave, 0);
  const warned = quiet.filter(({ warnings }) => warnings.length > 0);
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

/** The warnings that several accounts have, each once. */
export function sharedDocument(shared: readonly SharedWarning[]): ReportDocument[] {
  return shared.length === 0 ? [] : [{ title: [], headline: [], facts: [], sections: sharedSection(shared) }];
}

/** More accounts are counted instead of named. */
const NAMED_ACCOUNTS = 5;

function sharedSection(shared: readonly SharedWarning[]): Section[] {
  const rows = shared.map(({ warning, accounts }): Line[] => [
    [toned('warn', code(warning.code))],
    accounts.length > NAMED_ACCOUNTS ? [count(accounts.length, 'account')] : [codeList(accounts)],
    [warning.message],
  ]);
  const columns = [{ head: 'Code' }, { head: 'Accounts' }, { head: 'Message', below: true } as const];
  return [
    {
      title: 'Warnings of several accounts',
      count: shared.length,
      tone: 'warn',
      groups: [{ columns, rows }],
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
