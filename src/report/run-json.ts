// Converts a run to the JSON that other programs rely on. Its schema is published.
import type { OperationRecord, RunRecord } from '../core/journal.ts';
import type { RunDetail } from '../core/journal-reader.ts';

/** The run's own fields, in the order of the published JSON. */
export function runToJson(run: RunRecord) {
  return {
    schemaVersion: 1,
    id: run.id,
    account: run.account,
    remoteAccountId: run.remoteAccountId,
    trigger: run.trigger,
    mode: run.mode,
    status: run.status,
    startedAt: run.startedAt,
    finishedAt: run.finishedAt,
    configDigest: run.configDigest,
    configCommit: run.configCommit,
    configDirty: run.configDirty,
    configAuthoredAt: run.configAuthoredAt,
    configSubject: run.configSubject,
    planDigest: run.planDigest,
    plannedCreates: run.plannedCreates,
    plannedDeletes: run.plannedDeletes,
    created: run.created,
    deleted: run.deleted,
    held: run.held,
    kept: run.kept,
    failed: run.failed,
    requests: run.requests,
    retries: run.retries,
    errorCode: run.errorCode,
    error: run.error,
  } as const satisfies RunRecord & { schemaVersion: 1 };
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

export function operationToJson(operation: OperationRecord) {
  return {
    seq: operation.seq,
    kind: operation.kind,
    action: operation.action,
    name: operation.name,
    remoteId: operation.remoteId,
    status: operation.status,
    rule: operation.rule,
    reason: operation.reason,
    attempts: operation.attempts,
    httpStatus: operation.httpStatus,
    startedAt: operation.startedAt,
    finishedAt: operation.finishedAt,
  } as const satisfies Omit<OperationRecord, 'runId'>;
}
