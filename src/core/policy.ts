// Decides about each extra entry: left alone by the policy, held by a guard, or deleted. All rules are evaluated, so that
// a held delete names every rule that holds it.
import { linesFor, isOpen, usedUpBy } from './allowed-deletes.ts';
import type { Entry, Policy } from './catalog.ts';
import { runAllowance } from './delete-limits.ts';
import type { Extra, KindDiff } from './diff.ts';
import { isUsed, RULES } from './hold-rules.ts';
import { type History, kindNameKey } from './history.ts';
import { globMatcher, nameKey, nearKey, groupBy } from './names.ts';
import { type LeaveRule, HOLD_RULES, type HoldRule } from './journal.ts';
import type {
  Candidate,
  DeleteContext,
  DeleteCounts,
  JudgedCreate,
  JudgedEntry,
  Judgement,
  PolicyContext,
} from './rule-facts.ts';
import { entryKey } from './usage.ts';

/** Judges every extra entry and every missing name of all managed kinds together, since limits span kinds. */
export function judge(diffs: readonly KindDiff[], context: PolicyContext): Judgement {
  const { history, policy } = context;
  const creates = diffs.flatMap((diff) =>
    diff.missing.map((name): JudgedCreate => {
      const create = { kind: diff.kind, name, results: possibleResults(diff, name, history) };
      return { ...create, holds: HOLD_RULES.filter((rule) => RULES[rule].holdsCreate?.(create, context)) };
    }),
  );
  const heldCreates = new Set(
    creates.flatMap(({ kind, name, holds }) => (holds.length > 0 ? [kindNameKey(kind, name)] : [])),
  );
  const single = diffs.flatMap((diff) => judgeKind(diff, creates, { ...context, heldCreates }));
  const deletable = single.filter(({ leave, holds }) => leave === null && holds.length === 0);
  const counts: DeleteCounts = {
    total: deletable.length,
    recent: history.recentDeletesMs.length,
    ofKind: new Map(
      diffs.map(({ kind, present, desired }) => [
        kind,
        {
          deletes: deletable.filter((each) => each.kind === kind).length,
          entries: present.length,
          isEmptied: desired.length === 0 && policy.ownership !== 'listed',
        },
      ]),
    ),
  };
  const facts = { ...context, counts };
  const exceeded = new Map(
    diffs.map(({ kind }) => [kind, HOLD_RULES.filter((rule) => RULES[rule].isExceeded?.(kind, facts))]),
  );
  const isOver = [...exceeded.values()].some((rules) => rules.length > 0);
  const released = isOver ? runAllowance(context, counts.total) : null;
  // An exceeded limit holds all deletes, never a part of them.
  const extras = single.map((judged) =>
    judged.leave === null && released === null
      ? { ...judged, holds: ordered([...judged.holds, ...(exceeded.get(judged.kind) ?? [])]) }
      : judged,
  );
  return { extras, creates: heldWithOldEntry(creates, extras), counts, released };
}

/** The service refuses a name while an entry with a near one exists, so its create waits for the same release. */
function heldWithOldEntry(
  creates: readonly JudgedCreate[],
  extras: readonly JudgedEntry[],
): readonly JudgedCreate[] {
  const waits = new Set(
    extras.flatMap(({ kind, blocks, holds }) =>
      blocks === undefined || holds.length === 0 ? [] : [kindNameKey(kind, blocks)],
    ),
  );
  return creates.map((create) =>
    waits.has(kindNameKey(create.kind, create.name))
      ? { ...create, holds: ordered([...create.holds, 'rename']) }
      : create,
  );
}

function judgeKind(diff: KindDiff, creates: readonly JudgedCreate[], context: DeleteContext): JudgedEntry[] {
  const { kind } = diff;
  const { history, policy, today } = context;
  const leaves = leaveRulesOf(policy);
  const namedAlike = groupBy(diff.extras, ({ entry }) => nameKey(entry.name));
  const resultOf = groupBy(
    creates.flatMap((create) =>
      create.kind === kind ? create.results.map(({ id }) => ({ name: create.name, id })) : [],
    ),
    ({ id }) => id,
  );
  const open = context.allowances.filter((line) => isOpen(line, today));
  const refused = diff.missing.filter((name) => history.refusedCreates.has(kindNameKey(kind, name)));
  const refusedNear = new Map(refused.map((name) => [nearKey(name), name]));
  return diff.extras.map((extra) => {
    const { id, name } = extra.entry;
    const key = entryKey(kind, id);
    const alike = namedAlike.get(nameKey(name))?.length ?? 0;
    const lines = linesFor(open, { kind, name });
    const usedBy = context.usage.get(key) ?? [];
    const isPersonMissing = history.missingUse.has(key);
    const lastMs = isPersonMissing ? context.nowMs : (history.lastUsedMs.get(key) ?? -Infinity);
    const untilMs = lastMs + policy.unusedForMs;
    const base: Candidate = {
      kind,
      extra,
      usedBy,
      usedUntilMs: usedBy.length === 0 && policy.unusedForMs > 0 && untilMs > context.nowMs ? untilMs : null,
      isPersonMissing,
      allowed: alike === 1 && lines.some((line) => usedUpBy(line, id, history.released) === null),
      alike,
      mayBe: (resultOf.get(id) ?? []).map((result) => result.name),
      blocks: refusedNear.get(nearKey(name)),
    };
    const leave = leaveRule(base, leaves, context);
    const holds = leave === null ? HOLD_RULES.filter((rule) => RULES[rule].holds?.(base, context)) : [];
    return { ...base, leave, holds };
  });
}

/** The policy rule by which the entry is left alone, or null. */
function leaveRule(
  candidate: Candidate,
  leaves: EntryFilter,
  { policy, history }: PolicyContext,
): LeaveRule | null {
  const { extra, kind } = candidate;
  const isListed = policy.ownership === 'listed';
  if (extra.cause === 'duplicate' && (isListed || policy.duplicates === 'report')) return 'duplicate';
  // Entries that the file names, as desired, as a former name or as absent, are owned.
  const isOwned =
    extra.cause !== 'unnamed' || (!isListed && history.owned.has(entryKey(kind, extra.entry.id)));
  const rule = leaves(extra.entry, isOwned);
  if (rule !== null) return rule;
  return extra.cause === 'duplicate' && isUsed(candidate, policy) ? 'duplicate' : null;
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

/** The new entries that the doubtful create of a missing name may have made, since the file does not ask for them. */
function possibleResults({ kind, extras }: KindDiff, name: string, { doubtfulCreates }: History): Entry[] {
  const doubt = doubtfulCreates.get(kindNameKey(kind, name));
  if (doubt === undefined) return [];
  return extras.flatMap(({ entry, cause }) =>
    cause === 'unnamed' && !doubt.known.has(entryKey(kind, entry.id)) ? [entry] : [],
  );
}

function ordered(rules: readonly HoldRule[]): HoldRule[] {
  return HOLD_RULES.filter((rule) => rules.includes(rule));
}
