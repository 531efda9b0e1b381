// Explains why the service may have refused a create: an entry with a near name exists.
import { peopleHave } from '../core/amounts.ts';
import { nearKey } from '../core/names.ts';
import { entryKey } from '../core/usage.ts';
import { type ApplyContext, deletedWithStatus, type NumberedOperation } from './apply-context.ts';

/** Explains a 409 by an existing entry with a near name, or returns null. */
export type DuplicateHint = (create: NumberedOperation) => string | null;

/** `late` are the deletes after the creates; `firstCreate` is the `seq` of the first create. */
export function nearDuplicateHint(
  context: ApplyContext,
  late: readonly NumberedOperation[],
  firstCreate: number,
): DuplicateHint {
  return (create) => {
    const isNear = ({ name }: { readonly name: string }): boolean => nearKey(name) === nearKey(create.name);
    const deletedLater = late.find((operation) => operation.kind === create.kind && isNear(operation));
    if (deletedLater !== undefined) {
      return `${JSON.stringify(deletedLater.name)} exists and this plan would delete it, but creates are sent before deletes. ${deletedFirst(deletedLater, firstCreate)}`;
    }
    const gone = deletedWithStatus(context, ['done']);
    const existing = context.planned[create.kind].find(
      (entry) => isNear(entry) && !gone.has(entryKey(create.kind, entry.id)),
    );
    return existing === undefined
      ? null
      : `${JSON.stringify(existing.name)} exists and is not deleted, and the service may not accept a name so similar to it`;
  };
}

/** How to have the delete of a near duplicate sent before the creates. */
function deletedFirst({ seq, usedBy = [] }: NumberedOperation, firstCreate: number): string {
  if (usedBy.length > 0)
    return `${peopleHave(usedBy.length)}. Remove it from ${usedBy.length === 1 ? 'that person' : 'those people'}: then an approval in approvedDeletes lets rolecall delete it before the creates`;
  // The plan puts the delete first only if it is approved; it waits for the creates of an account that is not confirmed.
  return seq < firstCreate
    ? 'The lists show no account id, so nothing is deleted before a create succeeds: delete it by hand in the service'
    : 'If nobody has it, add it to approvedDeletes: then it is deleted first';
}
