// Decides about each extra entry: left alone by the policy, held by a guard, or deleted. All rules are evaluated, so that
// a held delete names every rule that holds it.
import type { ApprovedDelete, Kind, Policy } from './catalog.ts';
import type { Extra, KindDiff } from './diff.ts';
import type { History } from './history.ts';
import { DAY_MS, kindNameKey } from './history.ts';
import { globMatcher, nameKey, nearKey } from './names.ts';
import type { HoldRule, LeaveRule, OpenFreeze } from './plan.ts';
import { HOLD_RULES } from './plan.ts';
import type { MissingHolding } from './list-plausibility.ts';
import type { UsageIndex } from './usage.ts';
import { entryKey } from './usage.ts';

/** What the rules depend on besides the entry itself. */
export interface PolicyContext {
  readonly policy: Policy;
  readonly usage: UsageIndex;
  readonly history: History;
  readonly nowMs: number;
  /** The `freeze` window that is open now, or null. */
  readonly frozen: OpenFreeze | null;
  /** Whether the configuration is older than the one last applied to this account. */
  readonly staleSource: boolean;
  readonly approvals: readonly ApprovedDelete[];
  /** Whether the service lists any person; without people it is unknown which entries are in use. */
  readonly listsPeople: boolean;
  readonly acceptNoHistory: boolean;
}

/** An extra entry with the decision about it and the facts behind the decision. */
export interface JudgedEntry {
  readonly kind: Kind;
  readonly extra: Extra;
  readonly usedBy: readonly string[];
  /** People who had it and who, or whose fields, are missing from the lists now. */
  readonly missingHolders: readonly string[];
  /** Until when they count, in epoch milliseconds; null when they are missing for the first time. */
  readonly missingUntilMs: number | null;
  readonly leave: LeaveRule | null;
  /** In HOLD_RULES order; empty when the entry may be deleted, or is left alone. */
  readonly holds: readonly HoldRule[];
  readonly approved: boolean;
  /** A desired name that differs only in case, white space, diacritics or compatibility forms. */
  readonly nearName: string | null;
}

/** How many deletes count against the limits. */
export interface DeleteCounts {
  readonly total: number;
  readonly perKind: ReadonlyMap<Kind, number>;
}

export interface Judgement {
  readonly extras: readonly JudgedEntry[];
  readonly counts: DeleteCounts;
  /** `kind:name key` of held creates, with their rules. */
  readonly heldCreates: ReadonlyMap<string, readonly HoldRule[]>;
}

/** Judges every extra entry and every missing name of all managed kinds together, since limits span kinds. */
export function judge(diffs: readonly KindDiff[], context: PolicyContext): Judgement {
  const heldCreates = new Map<string, readonly HoldRule[]>();
  for (const diff of diffs) {
    for (const name of diff.missing) {
      const rules = createHolds(diff.kind, name, context);
      if (rules.length > 0) heldCreates.set(kindNameKey(diff.kind, name), rules);
    }
  }
  const single = diffs.flatMap((diff) => judgeKind(diff, heldCreates, context));
  const deletable = single.filter((judged) => judged.leave === null && judged.holds.length === 0);
  const perKind = new Map<Kind, number>();
  for (const { kind } of deletable) perKind.set(kind, (perKind.get(kind) ?? 0) + 1);
  const counts: DeleteCounts = { total: deletable.length, perKind };
  const extras = diffs.flatMap((diff) => {
    const limits = limitHolds(diff, counts, context);
    return single
      .filter(({ kind }) => kind === diff.kind)
      .map((judged) =>
        judged.leave === null ? { ...judged, holds: ordered([...judged.holds, ...limits]) } : judged,
      );
  });
  return { extras, counts, heldCreates };
}

function judgeKind(
  diff: KindDiff,
  heldCreates: ReadonlyMap<string, readonly HoldRule[]>,
  context: PolicyContext,
): JudgedEntry[] {
  const { kind } = diff;
  const nearNames = new Map(diff.desired.map(({ name }) => [nearKey(name), name]));
  const isProtected = anyGlob(context.policy.protect);
  const missing = holdersByEntry(kind, context.history);
  const approvals = new Set(
    context.approvals.filter((approval) => approval.kind === kind).map((approval) => nameKey(approval.name)),
  );
  return diff.extras.map((extra) => {
    const usedBy = context.usage.get(entryKey(kind, extra.entry.id)) ?? [];
    const missingHoldings = (missing.get(extra.entry.id) ?? []).filter(
      ({ resourceId }) => !usedBy.includes(resourceId),
    );
    const lastMissingMs = missingHoldings.reduce((last, { sinceMs }) => Math.max(last, sinceMs), 0);
    const base = {
      kind,
      extra,
      usedBy,
      missingHolders: missingHoldings.map(({ resourceId }) => resourceId),
      // People who are missing for the first time are not in the journal yet.
      missingUntilMs: lastMissingMs < context.nowMs ? lastMissingMs + DAY_MS : null,
      approved: approvals.has(nameKey(extra.entry.name)),
      nearName: extra.cause === 'unnamed' ? nearNameOf(extra.entry, nearNames) : null,
    };
    const leave = leaveRule(base, isProtected, context);
    if (leave !== null) return { ...base, leave, holds: [] };
    return { ...base, leave, holds: deleteHolds(base, diff, heldCreates, context) };
  });
}

/** The desired name that a name of the entry is near to, or null. */
function nearNameOf(
  { name, otherNames = [] }: Extra['entry'],
  nearNames: ReadonlyMap<string, string>,
): string | null {
  for (const each of [name, ...otherNames]) {
    const near = nearNames.get(nearKey(each));
    if (near !== undefined) return near;
  }
  return null;
}

type Candidate = Omit<JudgedEntry, 'leave' | 'holds'>;

/** The policy rule by which the entry is left alone, or null. */
function leaveRule(
  candidate: Candidate,
  isProtected: (name: string) => boolean,
  { policy, history }: PolicyContext,
): LeaveRule | null {
  const { extra, kind } = candidate;
  if (extra.cause === 'duplicate' && policy.duplicates === 'report') return 'duplicate';
  // Entries that the file names, by a desired or a former name, are adopted.
  const owned = extra.cause !== 'unnamed' || history.owned.has(entryKey(kind, extra.entry.id));
  if (policy.ownership === 'managed' && !owned) return 'unmanaged';
  if ([extra.entry.name, ...(extra.entry.otherNames ?? [])].some(isProtected)) return 'protected';
  if (policy.delete === 'never') return 'never_delete';
  if (extra.cause === 'duplicate' && candidate.usedBy.length + candidate.missingHolders.length > 0) {
    return 'duplicate';
  }
  return null;
}

/** The rules that hold a delete, except the limits. */
function deleteHolds(
  candidate: Candidate,
  diff: KindDiff,
  heldCreates: ReadonlyMap<string, readonly HoldRule[]>,
  context: PolicyContext,
): HoldRule[] {
  const { kind, extra, usedBy, missingHolders, approved, nearName } = candidate;
  const { policy, history } = context;
  const used = usedBy.length > 0;
  const usageMatters = policy.delete === 'unused' || extra.cause === 'renamed' || nearName !== null;
  const successorHeld =
    extra.desiredName !== undefined && heldCreates.has(kindNameKey(kind, extra.desiredName));
  const rules: HoldRule[] = [];
  if (used && policy.delete === 'unused' && !approved) rules.push('in_use');
  if ((used && extra.cause === 'renamed' && !approved) || successorHeld) rules.push('rename');
  if (used && nearName !== null && !approved) rules.push('suspected_rename');
  if (missingHolders.length > 0 && usageMatters && !approved) rules.push('holders_missing');
  if (!used && isTooNew(kind, extra, context)) rules.push('too_new');
  if (diff.desired.length === 0 && !policy.allowEmpty) rules.push('empty_catalog');
  if (context.staleSource) rules.push('stale_source');
  if (history.flappingDeletes.has(kindNameKey(kind, extra.entry.name))) rules.push('flapping');
  if (context.frozen !== null) rules.push('freeze');
  if (!history.hasSnapshot && !context.acceptNoHistory) rules.push('no_history');
  if (!context.listsPeople && usageMatters && !policy.allowNoPeople) rules.push('no_people');
  return rules;
}

/** Whether the entry has been unused for less time than `unusedFor` requires, by the journal. */
function isTooNew(kind: Kind, extra: Extra, { policy, history, nowMs }: PolicyContext): boolean {
  if (policy.unusedForMs === 0) return false;
  const since = history.unusedSinceMs.get(entryKey(kind, extra.entry.id)) ?? nowMs;
  return nowMs - since < policy.unusedForMs;
}

/** The limits, over the deletes that no other rule holds. An exceeded limit holds all of them, never a part. */
function limitHolds(diff: KindDiff, counts: DeleteCounts, { policy, history }: PolicyContext): HoldRule[] {
  const ofKind = counts.perKind.get(diff.kind) ?? 0;
  const entries = diff.present.length;
  const rules: HoldRule[] = [];
  if (counts.total > policy.maxDeletes) rules.push('max_deletes');
  if (counts.total > 0 && counts.total + history.recentDeletesMs.length > policy.maxDeletesPerDay) {
    rules.push('max_deletes_per_day');
  }
  if (entries >= 10 && ofKind * 100 > policy.maxDeletePercent * entries) rules.push('max_delete_percent');
  return rules;
}

function createHolds(kind: Kind, name: string, context: PolicyContext): HoldRule[] {
  const rules: HoldRule[] = [];
  if (context.history.flappingCreates.has(kindNameKey(kind, name))) rules.push('flapping');
  if (context.frozen !== null) rules.push('freeze');
  return rules;
}

function anyGlob(globs: readonly string[]): (name: string) => boolean {
  const matchers = globs.map(globMatcher);
  return (name) => matchers.some((matches) => matches(name));
}

function holdersByEntry(kind: Kind, history: History): Map<string, MissingHolding[]> {
  const people = new Map<string, MissingHolding[]>();
  for (const holding of history.missingHoldings) {
    if (holding.kind !== kind) continue;
    const holdings = people.get(holding.remoteId);
    if (holdings === undefined) people.set(holding.remoteId, [holding]);
    else holdings.push(holding);
  }
  return people;
}

function ordered(rules: readonly HoldRule[]): HoldRule[] {
  return HOLD_RULES.filter((rule) => rules.includes(rule));
}
