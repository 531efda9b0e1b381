// Gathers what a recheck of planned deletes needs: the lists that were just read, and what the run has done so far.
import type { ObservedCatalog } from '../core/catalog.ts';
import { type Findings, isOpenApproval } from '../core/delete-rules.ts';
import { kindNameKey } from '../core/history.ts';
import { nameKey } from '../core/names.ts';
import { findingsOf, recheckDelete, type RecheckResult } from '../core/recheck.ts';
import type { ApplyContext, NumberedOperation } from './apply-context.ts';
import { runHistory } from './run-history.ts';

/** Compares the lists with the file again, including the entries that this run has created. */
export function findingsNow(context: ApplyContext, observed: ObservedCatalog): Findings {
  return findingsOf(context.request.settings.desired, observed, runHistory(context, observed));
}

/** Checks one delete right before it is sent. Null allows it. */
export function recheckNow(
  context: ApplyContext,
  operation: NumberedOperation,
  findings: Findings,
): RecheckResult | null {
  const { operations, statuses, request } = context;
  const { kind, remoteId } = operation;
  const answered = operations.find(
    (each) => each.kind === kind && statuses.get(each.seq)?.entry?.remoteId === remoteId,
  );
  const pending = operations.filter(({ action, seq }) => action === 'create' && !statuses.has(seq));
  return recheckDelete(operation, findings, {
    policy: request.settings.policy,
    answeredFor: answered?.name,
    hasExpired: hasExpired(context, operation),
    pendingCreates: new Set(pending.map((create) => kindNameKey(create.kind, create.name))),
  });
}

/** Whether an approval that was valid when the plan was made has expired since. */
function hasExpired(
  { request, deps, plannedAtMs }: ApplyContext,
  { kind, name }: NumberedOperation,
): boolean {
  const days = [plannedAtMs, deps.clock.nowMs()].map((ms) => new Date(ms).toISOString().slice(0, 10));
  const [then = '', now = ''] = days;
  const approvals = request.settings.desired.approvedDeletes.filter(
    (approval) => approval.kind === kind && nameKey(approval.name) === nameKey(name),
  );
  return (
    approvals.some((approval) => isOpenApproval(approval, then)) &&
    !approvals.some((approval) => isOpenApproval(approval, now))
  );
}
