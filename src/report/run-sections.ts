// What became of each operation of a run, in the order in which a person wants to know (contract, section 5).
import type { OperationRecord, RunRecord } from '../core/journal.ts';
import type { Plan } from '../core/plan.ts';
import { CHANGE_COLUMNS, changeCells } from './change-sections.ts';
import { code, toned, type Line, type Section } from './document.ts';
import { withStatus } from './run-words.ts';
import { count, duration, elapsedMs } from './wording.ts';

const UNKNOWN =
  'The request left, and no answer tells what came of it. The next run looks in the lists first; nothing is sent again blindly.';
const HELD = 'Nothing happens to these until a person or time releases them.';

/**
 * Sections for what was done, what failed, what is not known, what was not tried and what was held in the course of
 * the run. What the plan itself holds is left to the plan's own section.
 */
export function outcomeSections(
  run: RunRecord,
  operations: readonly OperationRecord[],
  plan: Plan | null,
): Section[] {
  const isRunning = run.status === 'running';
  const done = withStatus(operations, 'done');
  const sent = withStatus(operations, 'sent');
  const unknown = withStatus(operations, 'unknown');
  const plannedHolds = new Set(plan?.held.map(changeKey));
  const held = withStatus(operations, 'held').filter((change) => !plannedHolds.has(changeKey(change)));
  const created = done.filter(({ action }) => action === 'create');
  const deleted = done.filter(({ action }) => action === 'delete');
  const notTried = isRunning ? 'Still to do' : run.status === 'planned' ? 'Planned' : 'Not tried';
  return [
    ...section('Created', created),
    ...section('Deleted', deleted),
    ...section('Under way', isRunning ? sent : []),
    ...section('Failed', withStatus(operations, 'failed')),
    ...section('Outcome not known', isRunning ? unknown : [...sent, ...unknown], UNKNOWN),
    ...section(notTried, withStatus(operations, 'skipped', 'pending')),
    ...section(plan === null ? 'Held' : 'Held in the course of the run', held, HELD),
  ];
}

function section(title: string, operations: readonly OperationRecord[], intro?: string): Section[] {
  if (operations.length === 0) return [];
  return [
    {
      title,
      count: operations.length,
      ...(intro === undefined ? {} : { intro: [intro] }),
      groups: [
        {
          columns: [
            ...CHANGE_COLUMNS,
            { head: 'Answer' },
            { head: 'Rule' },
            { head: 'Took', align: 'right' },
            { head: 'Id' },
            { head: 'Reason', below: true },
          ],
          rows: operations.map((operation): Line[] => [
            ...changeCells(operation, operation.status === 'done'),
            operation.status === 'done' ? attempts(operation) : answer(operation),
            operation.rule === null ? [] : [toned('warn', code(operation.rule))],
            took(operation),
            operation.remoteId === null ? [] : [toned('quiet', code(operation.remoteId))],
            operation.reason === null ? [] : [operation.reason],
          ]),
        },
      ],
    },
  ];
}

function answer(operation: OperationRecord): Line {
  const status = operation.httpStatus === null ? [] : [`HTTP ${operation.httpStatus}`];
  return [[...status, ...attempts(operation)].join(', ')].filter((text) => text !== '');
}

/** Worth a word only when there was more than one. */
function attempts(operation: OperationRecord): string[] {
  return operation.attempts > 1 ? [count(operation.attempts, 'attempt')] : [];
}

function took(operation: OperationRecord): Line {
  const ms = elapsedMs(operation.startedAt, operation.finishedAt);
  return ms === null ? [] : [toned('quiet', duration(ms))];
}

function changeKey(change: Pick<OperationRecord, 'action' | 'kind' | 'name' | 'remoteId'>): string {
  return JSON.stringify([change.action, change.kind, change.remoteId ?? change.name]);
}
