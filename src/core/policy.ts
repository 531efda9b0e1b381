// Decides about each extra entry: left alone by the policy, held by a guard, or deleted. All rules are evaluated, so that
// a held delete names every rule that holds it.
import { usedUpBy } from './allowed-deletes.ts';
import type { Entry, Kind, Policy } from './catalog.ts';
import {
  type Candidate,
  DELETE_RULES,
  type DeleteContext,
  type DeleteNumbers,
  type PolicyContext,
} from './delete-rules.ts';
import type { Extra, KindDiff } from './diff.ts';
import { DAY_MS } from './durations-and-sizes.ts';
import { type History, kindNameKey } from './history.ts';
import { globMatcher, nameKey, nearKey, groupBy } from './names.ts';
import { type CreateRule, HOLD_RULES, type HoldRule, type LeaveRule } from './plan.ts';
import { entryKey } from './usage.ts';

/** An extra entry with the decision about it and the facts behind the decision. */
export interface JudgedEntry extends Candidate {
  readonly leave: LeaveRule | null;
  /** In HOLD_RULES order; empty when the entry may be deleted, or is left alone. */
  readonly holds: readonly HoldRule[];
}

/** How many deletes count against the limits. */
export interface DeleteCounts {
  readonly total: number;
  readonly perKind: ReadonlyMap<Kind, number>;
  /** The entries of each kind. */
  readonly entries: ReadonlyMap<Kind, number>;
}

export interface Judgement {
  readonly extras: readonly JudgedEntry[];
  readonly counts: DeleteCounts;
  /** `kind:name key` of held creates, with their rules. */
  readonly heldCreates: ReadonlyMap<string, readonly CreateRule[]>;
}

/** Judges every extra entry and every missing name of all managed kinds together, since limits span kinds. */
export function judge(diffs: readonly KindDiff[], context: PolicyContext): Judgement {
  const heldCreates = new Map<string, readonly CreateRule[]>();
  for (const diff of diffs) {
    for (const name of diff.missing) {
      const rules = createHolds(diff, name, context);
      if (rules.length > 0) heldCreates.set(kindNameKey(diff.kind, name), rules);
    }
  }
  const single = diffs.flatMap((diff) => judgeKind(diff, heldCreates, context));
  const deletable = single.filter((judged) => judged.leave === null && judged.holds.length === 0);
  const perKind = new Map<Kind, number>();
  for (const { kind } of deletable) perKind.set(kind, (perKind.get(kind) ?? 0) + 1);
  const entries = new Map(diffs.map(({ kind, present }) => [kind, present.length]));
  const counts: DeleteCounts = { total: deletable.length, perKind, entries };
  const extras = diffs.flatMap((diff) => {
    const numbers = {
      total: counts.total,
      ofKind: perKind.get(diff.kind) ?? 0,
      entries: diff.present.length,
      recent: context.history.recentDeletesMs.length,
    };
    const limits = limitHolds(numbers, context.policy);
    return single
      .filter(({ kind }) => kind === diff.kind)
      .map((judged) =>
        judged.leave === null ? { ...judged, holds: ordered([...judged.holds, ...limits]) } : judged,
      );
  });
  // The service refuses a name while an entry with a near one exists, so it waits for the same release.
  for (const { kind, blocks, holds } of extras) {
    if (blocks === undefined || holds.length === 0) continue;
    const key = kindNameKey(kind, blocks);
    heldCreates.set(key, [...(heldCreates.get(key) ?? []), 'rename']);
  }
  return { extras, counts, heldCreates };
}

function judgeKind(
  diff: KindDiff,
  heldCreates: Judgement['heldCreates'],
  context: PolicyContext,
): JudgedEntry[] {
  const { kind } = diff;
  const leaves = leaveRulesOf(context.policy);
  const deleteContext = {
    ...context,
    heldCreates,
    asksForNothing: diff.desired.length === 0 && context.policy.ownership !== 'listed',
  };
  const missing = groupBy(
    context.history.missingHoldings.filter((holding) => holding.kind === kind),
    ({ remoteId }) => remoteId,
  );
  const allowances = new Map(
    context.allowances
      .filter((allowance) => allowance.kind === kind)
      .map((allowance) => [nameKey(allowance.name), allowance]),
  );
  const namedAlike = groupBy(diff.extras, ({ entry }) => nameKey(entry.name));
  const resultOf = groupBy(
    diff.missing.flatMap((name) =>
      possibleResults(diff, name, context.history).map(({ id }) => ({ name, id })),
    ),
    ({ id }) => id,
  );
  const refused = diff.missing.filter((name) => context.history.refusedCreates.has(kindNameKey(kind, name)));
  const refusedNear = new Map(refused.map((name) => [nearKey(name), name]));
  return diff.extras.map((extra) => {
    const name = nameKey(extra.entry.name);
    const allowance = allowances.get(name);
    const alike = namedAlike.get(name)?.length ?? 0;
    const isUsedUp =
      allowance !== undefined && usedUpBy(allowance, extra.entry.id, context.history.released) !== null;
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
      allowed: allowance !== undefined && alike === 1 && !isUsedUp,
      alike,
      mayBe: (resultOf.get(extra.entry.id) ?? []).map((result) => result.name),
      blocks: refusedNear.get(nearKey(extra.entry.name)),
    };
    const leave = leaveRule(base, leaves, context);
    return { ...base, leave, holds: leave === null ? deleteHolds(base, deleteContext) : [] };
  });
}

/** The policy rule by which the entry is left alone, or null. */
function leaveRule(
  { extra, kind, usedBy, missingHolders }: Candidate,
  leaves: EntryFilter,
  { policy, history }: PolicyContext,
): LeaveRule | null {
  const isListed = policy.ownership === 'listed';
  if (extra.cause === 'duplicate' && (isListed || policy.duplicates === 'report')) return 'duplicate';
  // Entries that the file names, as desired, as a former name or as absent, are owned.
  const isOwned =
    extra.cause !== 'unnamed' || (!isListed && history.owned.has(entryKey(kind, extra.entry.id)));
  const rule = leaves(extra.entry, isOwned);
  if (rule !== null) return rule;
  return extra.cause === 'duplicate' && usedBy.length + missingHolders.length > 0 ? 'duplicate' : null;
}

type EntryFilter = (
  entry: Pick<Extra['entry'], 'name' | 'otherNames'>,
  isOwned: boolean,
) => Exclude<LeaveRule, 'duplicate'> | null;

/** Returns the rule by which a policy leaves an entry alone whatever its cause; null: the entry may be deleted. */
export function leaveRulesOf({ ownership, protect, delete: deletes }: Policy): EntryFilter {
  const matchers = protect.map(globMatcher);
  const isProtected = (name: string): boolean => matchers.some((matches) => matches(name));
  return ({ name, otherNames = [] }, isOwned) => {
    if (ownership !== 'all' && !isOwned) return 'unmanaged';
    if ([name, ...otherNames].some(isProtected)) return 'protected';
    return deletes === 'never' ? 'never_delete' : null;
  };
}

/** The rules that hold a delete, except the limits. */
function deleteHolds(candidate: Candidate, context: DeleteContext): HoldRule[] {
  return HOLD_RULES.filter((rule) => DELETE_RULES[rule].holds?.(candidate, context) === true);
}

/** The limits, over the deletes that no other rule holds. An exceeded limit holds all of them, never a part. */
function limitHolds(numbers: DeleteNumbers, policy: Policy): HoldRule[] {
  return HOLD_RULES.filter((rule) => DELETE_RULES[rule].isExceeded?.(numbers, policy) === true);
}

function createHolds(
  diff: KindDiff,
  name: string,
  { history, frozen, rollout, uncommitted }: PolicyContext,
): CreateRule[] {
  const rules: CreateRule[] = rollout === null ? [] : ['rollout'];
  if (uncommitted?.length !== 0) rules.push('source');
  const isFlapping = history.flappingCreates.has(kindNameKey(diff.kind, name));
  if (isFlapping || possibleResults(diff, name, history).length > 0) rules.push('flapping');
  if (frozen !== null) rules.push('freeze');
  return rules;
}

/** The new entries that the doubtful create of a missing name may have made, since the file does not ask for them. */
export function possibleResults(
  { kind, extras }: KindDiff,
  name: string,
  { doubtfulCreates }: History,
): Entry[] {
  const doubt = doubtfulCreates.get(kindNameKey(kind, name));
  if (doubt === undefined) return [];
  return extras.flatMap(({ entry, cause }) =>
    cause === 'unnamed' && !doubt.known.has(entryKey(kind, entry.id)) ? [entry] : [],
  );
}

function ordered(rules: readonly HoldRule[]): HoldRule[] {
  return HOLD_RULES.filter((rule) => rules.includes(rule));
}
