// Makes the plan: diff, policy, order, summary, digests. Pure and deterministic.
import { type DesiredCatalog, KINDS, type ObservedCatalog, type Warning } from './catalog.ts';
import { diffKind, type KindDiff } from './diff.ts';
import { explainHeldCreate, explainHeldDelete } from './explain.ts';
import type { JudgedEntry, Judgement, PolicyContext } from './rule-facts.ts';
import { compareCodePoints, nearKey } from './names.ts';
import { type HeldChange, type LeftAlone, type Operation, type Plan, planDigest } from './plan.ts';
import { judge } from './policy.ts';
import {
  allowedDeleteWarnings,
  catalogWarnings,
  historyWarnings,
  managesNothing,
  staleListWarnings,
} from './plan-warnings.ts';
import { unknownHoldersWarnings } from './unknown-holders.ts';
import { usageOf } from './usage.ts';

export interface PlanInput extends Omit<PolicyContext, 'usage' | 'today' | 'allowances'> {
  readonly account: string;
  readonly remoteAccountId: string | null;
  /** ISO 8601 UTC, for `createdAt` and the last day of allowances. */
  readonly now: string;
  readonly desired: DesiredCatalog;
  readonly observed: ObservedCatalog;
  /** The warning of a guard that stops all writes (`suspicious_list`), or null. */
  readonly blocked: Warning | null;
  /** Further warnings, of the observation. */
  readonly warnings: readonly Warning[];
  readonly configDigest: string;
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
  const allowances = input.desired.allowedDeletes;
  const context = { ...input, usage, today, allowances };
  const judgement = judge(diffs, context);
  const creates = judgement.creates
    .filter(({ holds }) => holds.length === 0)
    .map(({ kind, name }): Operation => ({ action: 'create', kind, name }));
  const extras = sortExtras(judgement.extras);
  const deletes = extras.filter((judged) => judged.leave === null && judged.holds.length === 0);
  const leftAlone = extras.flatMap(({ kind, extra, leave }): LeftAlone[] =>
    leave === null ? [] : [{ kind, name: extra.entry.name, remoteId: extra.entry.id, rule: leave }],
  );
  const operations = inOrder(creates, deletes);
  const heldDeletes = extras.filter(({ holds }) => holds.length > 0);
  const kindsWithDeletes = new Set([...deletes, ...heldDeletes].map(({ kind }) => kind));
  const held = heldChanges({ ...judgement, extras }, context);
  const warnings = [
    ...(input.blocked === null ? [] : [input.blocked]),
    ...managesNothing(input.account, diffs),
    ...historyWarnings(input),
    ...input.warnings,
    ...unknownHoldersWarnings(input.unknownHolders, kindsWithDeletes),
    ...staleListWarnings(history, diffs),
    ...catalogWarnings(diffs, extras),
    ...allowedDeleteWarnings(diffs, judgement, context),
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
function heldChanges({ extras, creates, counts }: Judgement, context: PolicyContext): HeldChange[] {
  const facts = { ...context, counts };
  return [
    ...creates
      .filter(({ holds }) => holds.length > 0)
      .map((create): HeldChange => {
        const { kind, name, holds: rules } = create;
        const base = { action: 'create', kind, name, remoteId: null, usedBy: [], rules } as const;
        return { ...base, ...explainHeldCreate(create, rules, facts) };
      }),
    ...extras
      .filter(({ holds }) => holds.length > 0)
      .map((judged): HeldChange => {
        const { kind, extra, usedBy, holds: rules } = judged;
        const base = { action: 'delete', kind, name: extra.entry.name, remoteId: extra.entry.id } as const;
        return { ...base, usedBy, rules, ...explainHeldDelete(judged, facts) };
      }),
  ];
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

function deleteOperation(judged: JudgedEntry): Operation {
  const { kind, extra, allowed, usedBy, usedUntilMs } = judged;
  const base = { action: 'delete', kind, name: extra.entry.name, remoteId: extra.entry.id, usedBy } as const;
  if (extra.cause === 'renamed') return { ...base, reason: `renamed to “${extra.desiredName ?? ''}”` };
  if (extra.cause === 'absent') return { ...base, reason: 'the configuration wants it absent' };
  if (extra.cause === 'duplicate') return { ...base, reason: 'an unused duplicate of its name' };
  if (allowed && (usedBy.length > 0 || usedUntilMs !== null))
    return { ...base, reason: 'allowed in allowedDeletes' };
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
