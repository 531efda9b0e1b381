// Who loses an entry by the deletes of a run. The people are those of its plan: the journal of operations has none.
import type { RunDetail } from '../core/journal-reader.ts';
import type { OperationRecord } from '../core/journal.ts';
import type { Plan } from '../core/plan.ts';
import type { Line } from './document.ts';
import { count } from './formatting.ts';

/** The ids of the people who have the entry that an operation deletes; null when the plan is no longer stored. */
export function peopleOf(
  { seq, action, kind, remoteId }: OperationRecord,
  plan: Plan | null,
): readonly string[] | null {
  if (action === 'create') return [];
  const planned = plan?.operations[seq - 1];
  const isSame = planned?.action === action && planned.kind === kind && planned.remoteId === remoteId;
  return isSame ? (planned.usedBy ?? []) : null;
}

/** How many people lost something, and how many may have. No line when the run deleted nothing. */
export function lossLine({ run, operations, plan }: Pick<RunDetail, 'run' | 'operations' | 'plan'>): Line[] {
  const deletes = operations.filter(({ action, attempts }) => action === 'delete' && attempts > 0);
  const isRunning = run.status === 'running';
  const done = deletes.filter(({ status }) => status === 'done');
  const inDoubt = deletes.filter(({ status }) => status === 'unknown' || (status === 'sent' && !isRunning));
  if (done.length + inDoubt.length === 0) return [];
  const holders = [...done, ...inDoubt].map((operation) => peopleOf(operation, plan));
  if (holders.includes(null))
    return [['Who lost an entry is not known: the plan of this run is no longer stored.']];
  const lost = new Set(holders.slice(0, done.length).flatMap((ids) => ids ?? []));
  const perhaps = new Set(holders.flatMap((ids) => ids ?? [])).size - lost.size;
  const sure =
    lost.size === 0
      ? 'Nobody lost a skill or role'
      : `${count(lost.size, 'person', 'people')} lost a skill or role`;
  if (perhaps === 0) return [[`${sure}.`]];
  return [[`${sure}; ${perhaps} more may have, by deletes whose outcome is unknown.`]];
}
