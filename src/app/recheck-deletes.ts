// Whether a delete of the plan may still go, by lists that were read right before it (contract, section 5).
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

/** What lists that were read in the course of a run say. */
export interface Findings {
  readonly entries: ReadonlyMap<EntryKey, Entry>;
  readonly usage: UsageIndex;
  /** What is there and not asked for. */
  readonly extras: ReadonlyMap<EntryKey, Extra>;
  /** `kind:name key` of what is asked for and not there. */
  readonly missing: ReadonlySet<string>;
  readonly listsPeople: boolean;
}

/** Compares the lists with the file once more, with what the run has made so far. */
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

/** What becomes of a delete instead. */
export interface RecheckResult {
  readonly status: 'done' | 'held';
  readonly rule: HoldRule | null;
  readonly reason: string;
}

/** Gone is done; and what the plan allowed must wait when it is not what is there any more. Null: it may go. */
export function recheckDelete(
  context: ApplyContext,
  operation: NumberedOperation,
  findings: Findings,
): RecheckResult | null {
  const { kind, name, remoteId = '', usedBy = [] } = operation;
  const key = entryKey(kind, remoteId);
  const answered = answeredFor(context, operation);
  if (answered !== undefined) {
    return hold('rename', `the service gave this entry as the answer to the create of “${answered}”`);
  }
  const entry = findings.entries.get(key);
  if (entry === undefined) return { status: 'done', rule: null, reason: 'it was gone already' };
  if (!nameKeys(entry).has(nameKey(name))) {
    return hold('rename', `it was renamed to “${entry.name}” while the run was under way`);
  }
  const extra = findings.extras.get(key);
  const planned = new Set(usedBy);
  const given = (findings.usage.get(key) ?? []).filter((id) => !planned.has(id));
  if (given.length > 0) {
    const who = `${given.slice(0, 5).join(', ')}${given.length > 5 ? ` and ${given.length - 5} more` : ''}`;
    return hold('in_use', `it was given to ${who} while the run was under way`);
  }
  if (!findings.listsPeople && needsPeople(context, extra)) {
    return hold('no_people', 'the service listed no people any more while the run was under way');
  }
  const isUsed = (findings.usage.get(key) ?? []).length > 0;
  if (isUsed && hasRunOut(context, operation)) {
    return hold('in_use', 'people have it, and its approvedDeletes ran out while the run was under way');
  }
  if (extra === undefined) {
    return hold('rename', 'what else had its name went or was renamed while the run was under way');
  }
  if (extra.cause === 'renamed' && isAmiss(context, kind, extra.desiredName ?? '', findings)) {
    const reason = `its new name, “${extra.desiredName ?? ''}”, went or was renamed while the run was under way`;
    return hold('rename', reason);
  }
  return null;
}

/** Whether it matters for a delete who has the entry. */
function needsPeople({ request }: ApplyContext, extra: Extra | undefined): boolean {
  const { policy } = request.settings;
  return !policy.allowNoPeople && (policy.delete === 'unused' || extra?.cause === 'renamed');
}

function hold(rule: HoldRule, what: string): RecheckResult {
  return { status: 'held', rule, reason: `${what}; the next run judges it anew` };
}

/** An entry that the service gave as the answer to a create of this run is what the file asks for: the name asked. */
function answeredFor(
  { operations, statuses }: ApplyContext,
  { kind, remoteId }: NumberedOperation,
): string | undefined {
  return operations.find(
    ({ seq, kind: other }) => other === kind && statuses.get(seq)?.entry?.remoteId === remoteId,
  )?.name;
}

/** Whether an approval that stood in the file when the plan was made has ended since. */
function hasRunOut({ request, deps, plannedAtMs }: ApplyContext, { kind, name }: NumberedOperation): boolean {
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

/** Whether a new name is not there although it was; after an early delete the plan's own create of it is still to come. */
function isAmiss(
  { operations, statuses }: ApplyContext,
  kind: Kind,
  name: string,
  { missing }: Findings,
): boolean {
  const isToCome = operations.some(
    (each) =>
      each.action === 'create' &&
      each.kind === kind &&
      nameKey(each.name) === nameKey(name) &&
      !statuses.has(each.seq),
  );
  return !isToCome && missing.has(kindNameKey(kind, name));
}
