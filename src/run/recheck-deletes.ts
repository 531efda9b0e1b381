// Gathers what a recheck of planned deletes needs: the lists that were just read, and what the run has done so far.
import type { ObservedCatalog } from '../core/catalog.ts';
import { isOpen, linesFor } from '../core/allowed-deletes.ts';
import type { Findings } from '../core/rule-facts.ts';
import { kindNameKey } from '../core/history.ts';
import { baselineOf } from '../core/list-plausibility.ts';
import { type EntryKey, entryKey } from '../core/usage.ts';
import { findingsOf, recheckDelete, type RecheckResult } from '../core/recheck.ts';
import {
  type ApplyContext,
  createdEntries,
  deletedWithStatus,
  type NumberedOperation,
  runHistory,
} from './apply-context.ts';

/** What the lists show now, with what the run has done so far. No create is sent while deletes are. */
export interface FindingsNow extends Findings {
  /** The requested name of each entry that the service returned as the answer to a create of this run. */
  readonly answeredFor: ReadonlyMap<EntryKey, string>;
  readonly pendingCreates: ReadonlySet<string>;
}

/** Compares the lists with the file again, including the entries that this run has created. */
export function findingsNow(context: ApplyContext, observed: ObservedCatalog): FindingsNow {
  const { operations, statuses, request } = context;
  const pending = operations.filter(({ action, seq }) => action === 'create' && !statuses.has(seq));
  return {
    ...findingsOf(request.settings.desired, observed, {
      history: runHistory(context, observed),
      planned: baselineOf(context.planned, deletedWithStatus(context, ['done', 'unknown'])),
    }),
    answeredFor: createdEntries(context),
    pendingCreates: new Set(pending.map(({ kind, name }) => kindNameKey(kind, name))),
  };
}

/** Checks one delete right before it is sent. Null allows it. */
export function recheckNow(
  context: ApplyContext,
  operation: NumberedOperation,
  findings: FindingsNow,
): RecheckResult | null {
  const { kind, remoteId = '' } = operation;
  return recheckDelete(operation, findings, {
    policy: context.request.settings.policy,
    answeredFor: findings.answeredFor.get(entryKey(kind, remoteId)),
    wasUsedBefore: wasUsedBefore(context, entryKey(kind, remoteId)),
    hasExpired: hasExpired(context, operation),
    pendingCreates: findings.pendingCreates,
  });
}

/** Whether the entry counted as used when the plan was made, by an earlier list or by people who are missing. */
function wasUsedBefore({ history, request, plannedAtMs }: ApplyContext, key: EntryKey): boolean {
  const lastMs = history.missingUse.has(key) ? plannedAtMs : (history.lastUsedMs.get(key) ?? -Infinity);
  return lastMs + request.settings.policy.unusedForMs > plannedAtMs;
}

/** Whether a line that was valid when the plan was made has expired since. */
function hasExpired(
  { request, deps, plannedAtMs }: ApplyContext,
  { kind, name }: NumberedOperation,
): boolean {
  const days = [plannedAtMs, deps.clock.nowMs()].map((ms) => new Date(ms).toISOString().slice(0, 10));
  const [then = '', now = ''] = days;
  const allowances = linesFor(request.settings.desired.allowedDeletes, { kind, name });
  return (
    allowances.some((allowance) => isOpen(allowance, then)) &&
    !allowances.some((allowance) => isOpen(allowance, now))
  );
}
