// Decides whether a planned delete is still allowed, by lists that were read right before it.
import type { Entry, Kind, ObservedCatalog } from '../core/catalog.ts';
import { KINDS } from '../core/catalog.ts';
import type { Extra } from '../core/diff.ts';
import { diffKind, nameKeys } from '../core/diff.ts';
import { kindNameKey } from '../core/history.ts';
import { isOpenApproval } from '../core/make-plan.ts';
import { nameKey } from '../core/names.ts';
import type { HoldRule } from '../core/plan.ts';
import type { EntryKey, UsageIndex } from '../core/usage.ts';
import { entryKey, holdingsOf, usageOf } from '../core/usage.ts';
import type { ApplyContext, NumberedOperation } from './apply-context.ts';
import { runHistory } from './run-history.ts';

/** What the lists that were read during the run show. */
export interface Findings {
  readonly entries: ReadonlyMap<EntryKey, Entry>;
  readonly usage: UsageIndex;
  /** Entries that the file does not ask for. */
  readonly extras: ReadonlyMap<EntryKey, Extra>;
  /** `kind:name key` of desired names that no entry has. */
  readonly missing: ReadonlySet<string>;
  readonly listsPeople: boolean;
}

/** Compares the lists with the file again, including the entries that this run has created. */
export function findingsOf(context: ApplyContext, observed: ObservedCatalog): Findings {
  const usage = usageOf(observed.resources.flatMap(holdingsOf));
  const history = runHistory(context, observed);
  const diffs = KINDS.map((kind) =>
    diffKind(kind, context.request.settings.desired[kind] ?? [], observed, usage, history),
  );
  return {
    entries: new Map(
      KINDS.flatMap((kind) => observed[kind].map((entry) => [entryKey(kind, entry.id), entry] as const)),
    ),
    usage,
    extras: new Map(
      diffs.flatMap(({ kind, extras }) =>
        extras.map((extra) => [entryKey(kind, extra.entry.id), extra] as const),
      ),
    ),
    listsPeople: observed.resources.length > 0,
    missing: new Set(diffs.flatMap(({ kind, missing }) => missing.map((name) => kindNameKey(kind, name)))),
  };
}

/** The result of a delete that must not be sent. */
export interface RecheckResult {
  readonly status: 'done' | 'held';
  readonly rule: HoldRule | null;
  readonly reason: string;
}

/** Checks one delete: an entry that is gone is done, one that changed since the plan is held. Null allows the delete. */
export function recheckDelete(
  context: ApplyContext,
  operation: NumberedOperation,
  findings: Findings,
): RecheckResult | null {
  const { kind, name, remoteId = '', usedBy = [] } = operation;
  const key = entryKey(kind, remoteId);
  const answered = answeredFor(context, operation);
  if (answered !== undefined) {
    return hold('rename', `the service returned this entry for the create of “${answered}”`);
  }
  const entry = findings.entries.get(key);
  if (entry === undefined) return { status: 'done', rule: null, reason: 'it no longer existed' };
  if (!nameKeys(entry).has(nameKey(name))) {
    return hold('rename', `it was renamed to “${entry.name}” during the run`);
  }
  const extra = findings.extras.get(key);
  const planned = new Set(usedBy);
  const newHolders = (findings.usage.get(key) ?? []).filter((id) => !planned.has(id));
  if (newHolders.length > 0) {
    const who = `${newHolders.slice(0, 5).join(', ')}${newHolders.length > 5 ? ` and ${newHolders.length - 5} more` : ''}`;
    return hold('in_use', `it was assigned to ${who} during the run`);
  }
  if (!findings.listsPeople && needsPeople(context, extra)) {
    return hold('no_people', 'the service stopped listing people during the run');
  }
  const isUsed = (findings.usage.get(key) ?? []).length > 0;
  if (isUsed && hasExpired(context, operation)) {
    return hold('in_use', 'people have it, and its approvedDeletes entry expired during the run');
  }
  if (extra === undefined) {
    return hold('rename', 'the other entry of this name was deleted or renamed during the run');
  }
  if (extra.cause === 'renamed' && isUnexpectedlyMissing(context, kind, extra.desiredName ?? '', findings)) {
    const reason = `the entry with its new name, “${extra.desiredName ?? ''}”, was deleted or renamed during the run`;
    return hold('rename', reason);
  }
  return null;
}

/** Whether the delete depends on who has the entry. */
function needsPeople({ request }: ApplyContext, extra: Extra | undefined): boolean {
  const { policy } = request.settings;
  return !policy.allowNoPeople && (policy.delete === 'unused' || extra?.cause === 'renamed');
}

function hold(rule: HoldRule, what: string): RecheckResult {
  return { status: 'held', rule, reason: `${what}; the next run decides again` };
}

/** The requested name, when the service returned this entry as the answer to a create of this run. */
function answeredFor(
  { operations, statuses }: ApplyContext,
  { kind, remoteId }: NumberedOperation,
): string | undefined {
  return operations.find(
    ({ seq, kind: other }) => other === kind && statuses.get(seq)?.entry?.remoteId === remoteId,
  )?.name;
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

/** Whether a new name is missing although it was listed. After an early delete, the plan's own create of it is pending. */
function isUnexpectedlyMissing(
  { operations, statuses }: ApplyContext,
  kind: Kind,
  name: string,
  { missing }: Findings,
): boolean {
  const isPending = operations.some(
    (each) =>
      each.action === 'create' &&
      each.kind === kind &&
      nameKey(each.name) === nameKey(name) &&
      !statuses.has(each.seq),
  );
  return !isPending && missing.has(kindNameKey(kind, name));
}
