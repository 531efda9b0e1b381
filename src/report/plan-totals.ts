// The end of a report of several plans: the accounts without changes, counted, and a table of the other accounts.
import { NO_HISTORY } from '../core/plan-warnings.ts';
import type { Plan, PlanResult, PlanSummary } from '../core/plan.ts';
import { code, codeList, toned, type Line, type Report, type ReportDocument } from './document.ts';
import { count } from './formatting.ts';
import { countsText, heldPeople, isQuiet, losingPeople, totalOf } from './plan-sentence.ts';

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
