// Judges a planned delete again, by lists that were read right before it.
import { type DesiredCatalog, KINDS, type ObservedCatalog, type Resource } from './catalog.ts';
import { RULES } from './hold-rules.ts';
import type { DeleteNow, Findings } from './rule-facts.ts';
import { diffKind, nameKeys } from './diff.ts';
import { type History, kindNameKey } from './history.ts';
import type { Baseline } from './list-plausibility.ts';
import type { Operation } from './plan.ts';
import type { HoldRule } from './journal.ts';
import { unknownHolders } from './unknown-holders.ts';
import { entryKey, usageOf } from './usage.ts';

/**
 * Compares lists that were read during the run with the file. `history` includes what the run has created, `planned` are the
 * lists of the plan without what the run has deleted.
 */
export function findingsOf(
  desired: DesiredCatalog,
  observed: ObservedCatalog,
  { history, planned }: { readonly history: History; readonly planned: Baseline },
): Findings {
  const usage = usageOf(observed.resources);
  const diffs = KINDS.map((kind) =>
    diffKind(kind, desired[kind] ?? [], { observed, usage, history, absent: desired.absent?.[kind] }),
  );
  return {
    entries: new Map(
      KINDS.flatMap((kind) => observed[kind].map((entry) => [entryKey(kind, entry.id), entry] as const)),
    ),
    usage,
    planned,
    extras: new Map(
      diffs.flatMap(({ kind, extras }) =>
        extras.map((extra) => [entryKey(kind, extra.entry.id), extra] as const),
      ),
    ),
    unknownHolders: newlyUnknown(observed, planned.resources),
    missing: new Set(diffs.flatMap(({ kind, missing }) => missing.map((name) => kindNameKey(kind, name)))),
  };
}

/** The kinds whose holders these lists do not show, although the lists of the plan did. */
function newlyUnknown(observed: ObservedCatalog, planned: readonly Resource[]): Findings['unknownHolders'] {
  const before = unknownHolders(planned);
  return new Map([...unknownHolders(observed.resources, planned)].filter(([kind]) => !before.has(kind)));
}

/** What the run has done besides reading the lists. */
export type RunFacts = Pick<DeleteNow, 'policy' | 'wasUsedBefore' | 'hasExpired' | 'pendingCreates'> & {
  /** The requested name, when the service returned this entry as the answer to a create of this run. */
  readonly answeredFor: string | undefined;
};

/** The result of a delete that must not be sent. */
export interface RecheckResult {
  readonly status: 'done' | 'held';
  readonly rule: HoldRule | null;
  readonly reason: string;
}

/** Checks one delete: an entry that is gone is done, one that changed since the plan is held. Null allows the delete. */
export function recheckDelete(operation: Operation, findings: Findings, run: RunFacts): RecheckResult | null {
  const { kind, remoteId = '', usedBy = [] } = operation;
  const key = entryKey(kind, remoteId);
  if (run.answeredFor !== undefined) {
    return held('rename', `the service returned this entry for the create of “${run.answeredFor}”`);
  }
  const entry = findings.entries.get(key);
  if (entry === undefined) return { status: 'done', rule: null, reason: 'it no longer existed' };
  const names = nameKeys(entry);
  const before = nameKeys(findings.planned[kind].get(remoteId) ?? operation);
  const newName = names.find((each) => !before.includes(each));
  // An entry with several names may be one that only one of two readings has shown under another name.
  if (newName !== undefined || names.length < before.length) {
    return held('rename', `it was renamed to “${newName ?? entry.name}” during the run`);
  }
  const now: DeleteNow = {
    ...run,
    kind,
    usedByThen: usedBy,
    usedByNow: findings.usage.get(key) ?? [],
    extra: findings.extras.get(key),
    findings,
  };
  for (const [rule, { recheck }] of Object.entries(RULES)) {
    const reason = typeof recheck === 'function' ? recheck(now) : null;
    // The keys of the table are the rules.
    if (reason !== null) return held(rule as HoldRule, reason);
  }
  return null;
}

function held(rule: HoldRule, what: string): RecheckResult {
  return { status: 'held', rule, reason: `${what}; the next run decides again` };
}
