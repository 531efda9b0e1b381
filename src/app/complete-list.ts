// Whether a list that is read during a run can be relied on for what it does not show.
import type { Entry, Kind } from '../core/catalog.ts';
import { entryKey } from '../core/usage.ts';
import { type ApplyContext, deletedWithStatus } from './apply-context.ts';

/** Whether a list shows what the lists of the plan showed and what this run created, except for what it deleted. */
export function isComplete(context: ApplyContext, kind: Kind, list: readonly Entry[]): boolean {
  const listed = new Set(list.map(({ id }) => id));
  const gone = deletedWithStatus(context, ['done', 'unknown']);
  const created = context.operations.flatMap(({ seq, ...operation }) => {
    const entry = operation.kind === kind ? context.statuses.get(seq)?.entry : undefined;
    return entry === undefined ? [] : [entry.remoteId];
  });
  return [...context.planned[kind].map(({ id }) => id), ...created].every(
    (id) => listed.has(id) || gone.has(entryKey(kind, id)),
  );
}
