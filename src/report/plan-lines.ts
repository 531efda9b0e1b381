// One account of a plan in a few lines: its sentence and one line for each change, the riskiest first.
import { peopleHave, peopleLose } from '../core/amounts.ts';
import { KINDS } from '../core/catalog.ts';
import { newNameOf, desiredNameOf } from '../core/held-texts.ts';
import type { HeldChange, Operation, Plan, PlanResult } from '../core/plan.ts';
import { holdersIn, type HoldersOf } from '../core/unknown-holders.ts';
import { changeCells, CHANGE_COLUMNS, losesPeople } from './change-sections.ts';
import { code, codeList, toned, type Line, type ReportDocument } from './document.ts';
import { count } from './formatting.ts';
import { sortedNaturally } from './natural-order.ts';
import { summaryText } from './plan-sentence.ts';
import { blockedLines, failedDocument, isQuiet, nextOf, planStatus } from './plan-status.ts';

/** The lines of changes that all accounts of a long report share, and how many one account has at least. */
const SHARED_LINES = 12;
const FEWEST_LINES = 2;

/** Narrower terminals show only how many people a change concerns, so that it stays in one line. */
const WIDE = 80;

interface LinesOptions {
  /** Whether every change is shown, with a summary. */
  readonly all: boolean;
  /** The number of accounts that are shown like this. */
  readonly accounts: number;
}

/** The account as a sentence with one line for each change; a change that takes something from people is never left out. */
export function accountLines(plan: PlanResult, { all, accounts }: LinesOptions): ReportDocument {
  if (plan.status === 'failed') return { ...failedDocument(plan), isDense: true };
  const losses = plan.operations.filter(losesPeople);
  const others = plan.operations.filter((operation) => !losesPeople(operation));
  const holders = holdersIn(plan);
  const lines = (operations: readonly Operation[]): Line[][] =>
    sorted(operations).map((operation) => operationLine(operation, holders));
  const rows = [
    ...lines(losses),
    ...sorted(plan.held).map((change) => heldLine(change, holders)),
    ...lines(others.filter(({ action }) => action === 'delete')),
    ...lines(others.filter(({ action }) => action === 'create')),
  ];
  const columns = [
    ...CHANGE_COLUMNS,
    { head: 'New name', from: WIDE },
    { head: 'People', from: WIDE },
    { head: 'Note', from: WIDE },
    { head: 'Note', until: WIDE },
  ];
  const shown = Math.max(FEWEST_LINES, Math.floor(SHARED_LINES / accounts));
  const changes = {
    title: '',
    groups: [{ columns, rows }],
    ...(all ? { unlimited: true as const } : { textRows: Math.max(losses.length, shown) }),
  };
  const { label, tone } = planStatus(plan);
  return {
    title: [code(plan.account)],
    status: { label: label + warningText(plan), tone },
    headline: plan.status === 'blocked' ? blockedLines(plan) : [],
    facts: [],
    sections: rows.length === 0 ? [] : [changes],
    ...(all && !isQuiet(plan) ? { summary: [`Plan: ${summaryText(plan.summary)}.`] } : {}),
    completeBy: `rolecall plan ${plan.account}`,
    ...nextOf(plan),
    isDense: true,
  };
}

function sorted<T extends Operation | HeldChange>(changes: readonly T[]): T[] {
  return sortedNaturally(changes, KINDS);
}

function operationLine(operation: Operation, holders: HoldersOf): Line[] {
  const { usedBy = [], action } = operation;
  const newName = newNameOf(operation);
  return [
    ...changeCells(operation),
    newName === null ? [] : ['→ ', code(newName)],
    usedBy.length > 0
      ? [toned('bad', peopleLose(usedBy.length))]
      : action === 'delete'
        ? [holders(operation) === null ? toned('bad', peopleHave(null)) : toned('quiet', peopleHave(0))]
        : [],
    usedBy.length === 0 ? [] : [codeList(usedBy)],
    usedBy.length === 0
      ? []
      : [toned('bad', `${usedBy.length} ${usedBy.length === 1 ? 'loses' : 'lose'} it`)],
  ];
}

function heldLine(change: HeldChange, holders: HoldersOf): Line[] {
  const { action, rules, usedBy } = change;
  const desired = desiredNameOf(change);
  return [
    ...changeCells(change, false),
    desired === null ? [] : [rules.includes('rename') ? '→ ' : 'near ', code(desired)],
    action === 'create' ? [] : [peopleHave(holders(change)?.length ?? null)],
    [toned('warn', `held: ${rules.join(', ')}`)],
    [
      toned(
        'warn',
        usedBy.length === 0 ? 'held' : `held, ${usedBy.length} ${usedBy.length === 1 ? 'has' : 'have'} it`,
      ),
    ],
  ];
}

/** The number of warnings; their messages are in the complete plan. */
function warningText({ warnings }: Plan): string {
  return warnings.length === 0 ? '' : `; ${count(warnings.length, 'warning')}`;
}
