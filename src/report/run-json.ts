// Converts a run to the JSON that other programs rely on: exactly the fields of the published schema, in its order.
import type { OperationRecord, RunRecord } from '../core/journal.ts';
import type { RunDetail } from '../core/journal-reader.ts';
import { operationRecordSchema, runRecordSchema } from './schemas.ts';

/** The run's own fields. */
export function runToJson(run: RunRecord): RunRecord & { readonly schemaVersion: 1 } {
  return publishedFields(runRecordSchema, { schemaVersion: 1, ...run });
}

/** The run with its operations, warnings and plan, as in the published JSON. */
export function runReportToJson({ run, operations, warnings, plan, earlierHolders }: RunDetail) {
  return {
    ...runToJson(run),
    operations: operations.map(operationToJson),
    warnings,
    plan,
    ...(earlierHolders === undefined ? {} : { earlierHolders }),
  };
}

export function operationToJson(operation: OperationRecord): Omit<OperationRecord, 'runId'> {
  return publishedFields(operationRecordSchema, operation);
}

/** A record of the store may have more fields than its type. */
function publishedFields<T extends object>({ shape }: { readonly shape: object }, record: T): T {
  const fields = Object.entries(record).filter(([key]) => Object.hasOwn(shape, key));
  const order = Object.keys(shape);
  // The schema mirrors the type, so that only fields beyond it are missing.
  return Object.fromEntries(fields.toSorted(([a], [b]) => order.indexOf(a) - order.indexOf(b))) as T;
}
