// The sections that report the result of each operation of a run.
import type { OperationRecord, RunRecord } from '../core/journal.ts';
import type { Plan } from '../core/plan.ts';
import { CHANGE_COLUMNS, changeCells } from './change-sections.ts';
import { code, toned, type Line, type Section } from './document.ts';
import { HELD_INTRO } from './held-sections.ts';
import { withStatus } from './run-status.ts';
import { count, duration, elapsedMs } from './formatting.ts';

const UNKNOWN =
  'The request was sent, but its result is unknown. The next run checks the lists before it sends the request again.';

/**
 * Sections for operations that are done, failed, unknown, not tried, or held during the run. The changes that the plan
 * itself holds are in the plan's own section.
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
  const notTried = isRunning ? 'Remaining' : run.status === 'planned' ? 'Planned' : 'Not tried';
  return [
    ...section('Created', created),
    ...section('Deleted', deleted),
    ...section('In progress', isRunning ? sent : []),
    ...section('Failed', withStatus(operations, 'failed')),
    ...section('Outcome unknown', isRunning ? unknown : [...sent, ...unknown], UNKNOWN),
    ...section(notTried, withStatus(operations, 'skipped', 'pending')),
    ...section(plan === null ? 'Held' : 'Held during the run', held, HELD_INTRO),
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
            { head: 'Response' },
            { head: 'Rule' },
            { head: 'Duration', align: 'right' },
            { head: 'Id' },
            { head: 'Reason', below: true },
          ],
          rows: operations.map((operation): Line[] => [
            ...changeCells(operation, operation.status === 'done'),
            operation.status === 'done' ? attempts(operation) : response(operation),
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

function response(operation: OperationRecord): Line {
  const status = operation.httpStatus === null ? [] : [`HTTP ${operation.httpStatus}`];
  return [[...status, ...attempts(operation)].join(', ')].filter((text) => text !== '');
}

/** The number of attempts, when there was more than one. */
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
