// Converts a run to the JSON that other programs rely on. Its schema, which mirrors the records, is published.
import type { OperationRecord, RunRecord } from '../core/journal.ts';
import type { RunDetail } from '../core/journal-reader.ts';

/** The run's own fields. */
export function runToJson(run: RunRecord) {
  return { schemaVersion: 1, ...run } as const;
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

/** JSON leaves out what is undefined. */
export function operationToJson(operation: OperationRecord) {
  return { ...operation, runId: undefined };
}
