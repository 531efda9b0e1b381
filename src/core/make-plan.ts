// Makes the plan: diff, policy, order, summary, digests. Pure and deterministic.
import { isOpen } from './allowed-deletes.ts';
import { type DesiredCatalog, KINDS, type ObservedCatalog, type Warning } from './catalog.ts';
import { diffKind, type KindDiff } from './diff.ts';
import { explainHeldCreate, explainHeldDelete } from './explain.ts';
import type { PolicyContext } from './delete-rules.ts';
import { kindNameKey } from './history.ts';
import { compareCodePoints, nearKey } from './names.ts';
import {
  type HeldChange,
  isStaleSource,
  type LeftAlone,
  type Operation,
  type Plan,
  planDigest,
  type SourceAge,
} from './plan.ts';
import { judge, type JudgedEntry, type Judgement, possibleResults } from './policy.ts';
import {
  allowedDeleteWarnings,
  catalogWarnings,
  historyWarnings,
  managesNothing,
  staleListWarnings,
} from './plan-warnings.ts';
import { unknownHoldersWarnings } from './unknown-holders.ts';
import { usageOf } from './usage.ts';

export interface PlanInput extends Omit<PolicyContext, 'usage' | 'staleSource' | 'allowances'> {
  readonly account: string;
  readonly remoteAccountId: string | null;
  /** ISO 8601 UTC, for `createdAt` and the last day of allowances. */
  readonly now: string;
  readonly desired: DesiredCatalog;
  readonly observed: ObservedCatalog;
  readonly source: SourceAge;
  readonly acceptOlderSource: boolean;
  /** The warning of a guard that stops all writes (`suspicious_list`), or null. */
  readonly blocked: Warning | null;
  /** Further warnings, of the observation. */
  readonly warnings: readonly Warning[];
  readonly configDigest: string;
  readonly configCommit: string | null;
  /** Lower-case hexadecimal SHA-256 of a text. */
  readonly sha256: (text: string) => string;
}

/** The plan for one account. The same input gives the same value, whatever the order of the lists. */
export function makePlan(input: PlanInput): Plan {
  const { observed, history } = input;
  const usage = usageOf(observed.resources);
  const diffs = KINDS.flatMap((kind) => {
    const desired = input.desired[kind];
    const absent = input.desired.absent?.[kind];
    return desired === undefined ? [] : [diffKind(kind, desired, { observed, usage, history, absent })];
  });
  const today = input.now.slice(0, 10);
  const allowances = input.desired.allowedDeletes.filter((allowance) => isOpen(allowance, today));
  const staleSource = isStaleSource(input.source) && !input.acceptOlderSource;
  const judgement = judge(diffs, { ...input, usage, staleSource, allowances });
  const creates = diffs.flatMap(({ kind, missing }) =>
    missing
      .filter((name) => !judgement.heldCreates.has(kindNameKey(kind, name)))
      .map((name): Operation => ({ action: 'create', kind, name })),
  );
  const extras = sortExtras(judgement.extras);
  const deletes = extras.filter((judged) => judged.leave === null && judged.holds.length === 0);
  const leftAlone = extras.flatMap(({ kind, extra, leave }): LeftAlone[] =>
    leave === null ? [] : [{ kind, name: extra.entry.name, remoteId: extra.entry.id, rule: leave }],
  );
  const operations = inOrder(creates, deletes);
  const heldDeletes = extras.filter(({ holds }) => holds.length > 0);
  const kindsWithDeletes = new Set([...deletes, ...heldDeletes].map(({ kind }) => kind));
  const held = heldChanges(input, diffs, { ...judgement, extras });
  const warnings = [
    ...(input.blocked === null ? [] : [input.blocked]),
    ...managesNothing(input.account, diffs),
    ...historyWarnings(input, creates.length > 0),
    ...input.warnings,
    ...unknownHoldersWarnings(input.unknownHolders, kindsWithDeletes),
    ...staleListWarnings(history, diffs),
    ...catalogWarnings(diffs, extras),
    ...allowedDeleteWarnings(input.desired.allowedDeletes, diffs, { today, released: history.released }),
  ];
  return {
    schemaVersion: 1,
    account: input.account,
    remoteAccountId: input.remoteAccountId,
    createdAt: input.now,
    digest: planDigest(input.remoteAccountId, operations, input.sha256),
    configDigest: input.configDigest,
    observedDigest: observedDigest(diffs, observed, input.sha256),
    configCommit: input.configCommit,
    status: input.blocked === null ? 'planned' : 'blocked',
    summary: {
      create: creates.length,
      delete: deletes.length,
      hold: held.length,
      keep: diffs.reduce((sum, diff) => sum + diff.kept, 0),
      leave: leftAlone.length,
    },
    operations,
    held,
    leftAlone,
    warnings,
  };
}

/** The held creates, then the held deletes, with their explanations. */
function heldChanges(
  input: PlanInput,
  diffs: readonly KindDiff[],
  { extras, heldCreates, counts }: Judgement,
): HeldChange[] {
  const listedPeople = new Set(input.observed.resources.map(({ id }) => id));
  const facts = { ...input, counts, listedPeople, allowances: input.desired.allowedDeletes };
  const creates = diffs.flatMap((diff) =>
    diff.missing.flatMap((name): HeldChange[] => {
      const { kind } = diff;
      const rules = heldCreates.get(kindNameKey(kind, name));
      if (rules === undefined) return [];
      const results = possibleResults(diff, name, input.history);
      const explanation = explainHeldCreate(kind, name, rules, { ...facts, results });
      return [{ action: 'create', kind, name, remoteId: null, usedBy: [], rules, ...explanation }];
    }),
  );
  const deletes = extras
    .filter((judged) => judged.holds.length > 0)
    .map((judged): HeldChange => ({
      action: 'delete',
      kind: judged.kind,
      name: judged.extra.entry.name,
      remoteId: judged.extra.entry.id,
      usedBy: holdersOf(judged),
      rules: judged.holds,
      ...explainHeldDelete(judged, facts),
    }));
  return [...creates, ...deletes];
}

/**
 * Creates come before deletes, so that nobody lacks an entry in between. Only the allowed delete of an unused near
 * duplicate comes first, since a service with unique names would refuse the create otherwise; once it did, also one that is
 * only allowed or only unused.
 */
function inOrder(creates: readonly Operation[], deletes: readonly JudgedEntry[]): Operation[] {
  const nearCreates = new Set(creates.map(({ kind, name }) => `${kind}:${nearKey(name)}`));
  const isEarly = ({ allowed, usedBy, blocks, extra, kind }: JudgedEntry): boolean =>
    (blocks === undefined ? allowed && usedBy.length === 0 : allowed || usedBy.length === 0) &&
    nearCreates.has(`${kind}:${nearKey(extra.entry.name)}`);
  return [
    ...deletes.filter(isEarly).map(deleteOperation),
    ...creates,
    ...deletes.filter((judged) => !isEarly(judged)).map(deleteOperation),
  ];
}

function sortExtras(extras: readonly JudgedEntry[]): JudgedEntry[] {
  return KINDS.flatMap((kind) =>
    extras
      .filter((judged) => judged.kind === kind)
      .sort(
        (a, b) =>
          compareCodePoints(a.extra.entry.name, b.extra.entry.name) ||
          compareCodePoints(a.extra.entry.id, b.extra.entry.id),
      ),
  );
}

/** The people who have the entry, and those who count as having it although they, or their fields, are not listed now. */
function holdersOf({ usedBy, missingHolders }: JudgedEntry): readonly string[] {
  return missingHolders.length === 0 ? usedBy : [...usedBy, ...missingHolders].toSorted(compareCodePoints);
}

function deleteOperation(judged: JudgedEntry): Operation {
  const { kind, extra, allowed } = judged;
  const usedBy = holdersOf(judged);
  const base = { action: 'delete', kind, name: extra.entry.name, remoteId: extra.entry.id, usedBy } as const;
  if (extra.cause === 'renamed') return { ...base, reason: `renamed to “${extra.desiredName ?? ''}”` };
  if (extra.cause === 'absent') return { ...base, reason: 'the configuration wants it absent' };
  if (extra.cause === 'duplicate') return { ...base, reason: 'an unused duplicate of its name' };
  if (allowed && usedBy.length > 0) return { ...base, reason: 'allowed in allowedDeletes' };
  return base;
}

function observedDigest(
  diffs: readonly KindDiff[],
  observed: ObservedCatalog,
  sha256: (text: string) => string,
): string {
  const entries = diffs.map(({ kind, present }) => [kind, present.map((entry) => [entry.id, entry.name])]);
  const people = observed.resources
    .map(
      (resource) => [resource.id, [...(resource.skillsIds ?? [])].sort(), resource.roleId ?? null] as const,
    )
    .sort((a, b) => compareCodePoints(a[0], b[0]));
  return `sha256:${sha256(JSON.stringify([entries, people]))}`;
}
