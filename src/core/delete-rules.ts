// The rules that hold a delete, in one table. It has when each one holds a planned delete, and whether it is judged again
// right before the delete is sent. policy.ts applies the table to a plan, recheck.ts to one delete of a run.
import { firstFew } from './amounts.ts';
import type { AllowedDelete, Entry, Kind, Policy } from './catalog.ts';
import type { Extra } from './diff.ts';
import { type History, kindNameKey } from './history.ts';
import type { HoldRule, OpenFreeze, OpenRollout } from './plan.ts';
import type { UnknownHolders } from './unknown-holders.ts';
import { type EntryKey, entryKey, type UsageIndex } from './usage.ts';

/** An extra entry that may be deleted, with the facts that the rules judge. */
export interface Candidate {
  readonly kind: Kind;
  readonly extra: Extra;
  readonly usedBy: readonly string[];
  /** People who had it and who, or whose fields, are missing from the lists now. */
  readonly missingHolders: readonly string[];
  /** Until when they count, in epoch milliseconds; null when they are missing for the first time. */
  readonly missingUntilMs: number | null;
  /** Whether an allowance names this entry and no other extra one, and was not used for another entry before. */
  readonly allowed: boolean;
  /** The extra entries of this name; an allowance releases one entry, so of two it releases none. */
  readonly alike: number;
  /** The missing names whose create may have made this entry, because its answer was lost. */
  readonly mayBe: readonly string[];
  /** The near missing name whose create the service refused, which it may do for as long as this entry exists. */
  readonly blocks: string | undefined;
}

/** What the rules depend on besides the entry itself. */
export interface PolicyContext {
  readonly policy: Policy;
  readonly usage: UsageIndex;
  readonly history: History;
  readonly nowMs: number;
  /** The `freeze` window that is open now, or null. */
  readonly frozen: OpenFreeze | null;
  /** The newer commit that other accounts must run first, or null. */
  readonly rollout: OpenRollout | null;
  /** Whether the configuration is older than the one last applied to this account, or may be. */
  readonly staleSource: boolean;
  /** In the daemon, the files of the account that differ from their commit; null when that is not known. */
  readonly uncommitted: readonly string[] | null;
  readonly allowances: readonly AllowedDelete[];
  /** The kinds of which nobody can tell who has what, and nobody has accepted that. */
  readonly unknownHolders: ReadonlyMap<Kind, UnknownHolders>;
  /** Whether deletes are allowed although the store contains no earlier lists of this account. */
  readonly acceptNoHistory: boolean;
}

/** The same with what the plan decided before its deletes. */
export interface DeleteContext extends PolicyContext {
  /** Whether the file asks for an empty list of this kind. */
  readonly asksForNothing: boolean;
  /** `kind:name key` of the creates that the plan holds. */
  readonly heldCreates: Pick<ReadonlySet<string>, 'has'>;
}

/** The deletes that no other rule holds, for the limits. */
export interface DeleteNumbers {
  readonly total: number;
  readonly ofKind: number;
  /** The entries of the kind. */
  readonly entries: number;
  /** The deletes of the last 24 hours. */
  readonly recent: number;
}

/** What the lists that were read during the run show. */
export interface Findings {
  readonly entries: ReadonlyMap<EntryKey, Entry>;
  /** The entries of the lists of the plan, by id. */
  readonly planned: Readonly<Record<Kind, ReadonlyMap<string, Entry>>>;
  readonly usage: UsageIndex;
  /** Entries that the file does not ask for. */
  readonly extras: ReadonlyMap<EntryKey, Extra>;
  /** `kind:name key` of desired names that no entry has. */
  readonly missing: ReadonlySet<string>;
  /** The kinds of which these lists, unlike those of the plan, do not show who has what. */
  readonly unknownHolders: ReadonlyMap<Kind, UnknownHolders>;
}

/** A planned delete with the present facts. */
export interface DeleteNow {
  readonly kind: Kind;
  /** The people who had the entry when the delete was planned, and those who have it now. */
  readonly usedByThen: readonly string[];
  readonly usedByNow: readonly string[];
  /** Undefined when the file asks for the entry now. */
  readonly extra: Extra | undefined;
  readonly policy: Policy;
  readonly findings: Findings;
  /** Whether people who were missing from the lists when the plan was made had the entry. */
  readonly hadMissingHolders: boolean;
  /** Whether the allowance on which the plan relied has expired since. */
  readonly hasExpired: boolean;
  /** `kind:name key` of creates that the run has not sent yet. */
  readonly pendingCreates: ReadonlySet<string>;
}

/** Returns why the delete is held now, or null. */
type Recheck = (now: DeleteNow) => string | null;

/**
 * Each rule judges either one delete (`holds`) or all deletes of a plan (`isExceeded`); `failed_creates` is judged only
 * during the run. `recheck` judges the rule again right before the delete, or is the reason why that is not needed:
 * `fixed`: the facts of the rule cannot change during a run.
 * `each_request`: run/ checks the rule before every request.
 * `after_creates`: run/ checks the rule between creates and deletes.
 * `as_in_use`: a person who gets the entry during the run holds its delete by `in_use`.
 */
interface DeleteRule {
  readonly holds?: (candidate: Candidate, context: DeleteContext) => boolean;
  readonly isExceeded?: (numbers: DeleteNumbers, policy: Policy) => boolean;
  readonly recheck: Recheck | 'fixed' | 'each_request' | 'after_creates' | 'as_in_use';
}

/** Every rule. If several rules hold a delete that is rechecked, the first one of this table is reported. */
export const DELETE_RULES: Readonly<Record<HoldRule, DeleteRule>> = {
  in_use: {
    holds: ({ usedBy, allowed }, { policy }) => usedBy.length > 0 && policy.delete === 'unused' && !allowed,
    recheck: recheckUse,
  },
  no_people: {
    holds: ({ kind, extra }, { policy, unknownHolders }) =>
      unknownHolders.has(kind) && usageMatters(extra, policy) && !policy.allowNoPeople,
    recheck: recheckPeople,
  },
  rename: {
    holds: ({ kind, extra, usedBy, allowed }, { heldCreates }) =>
      (usedBy.length > 0 && extra.cause === 'renamed' && !allowed) ||
      (extra.desiredName !== undefined && heldCreates.has(kindNameKey(kind, extra.desiredName))),
    recheck: recheckRename,
  },
  suspected_rename: {
    holds: ({ extra, usedBy, allowed }) => usedBy.length > 0 && extra.nearName !== undefined && !allowed,
    recheck: 'as_in_use',
  },
  holders_missing: {
    holds: (candidate, { policy }) =>
      candidate.missingHolders.length > 0 && usageMatters(candidate.extra, policy) && !candidate.allowed,
    recheck: recheckMissingHolders,
  },
  too_new: { holds: isTooNew, recheck: 'as_in_use' },
  empty_catalog: {
    holds: (_, { asksForNothing, policy }) => asksForNothing && !policy.allowEmpty,
    recheck: 'fixed',
  },
  source: {
    holds: (_, { staleSource, uncommitted }) => staleSource || uncommitted?.length !== 0,
    recheck: 'fixed',
  },
  flapping: {
    holds: ({ kind, extra, mayBe }, { history }) =>
      // Without the entry, nothing would show that a create whose answer was lost has happened.
      mayBe.length > 0 || history.flappingDeletes.has(kindNameKey(kind, extra.entry.name)),
    recheck: 'fixed',
  },
  rollout: { holds: (_, { rollout }) => rollout !== null, recheck: 'fixed' },
  freeze: { holds: (_, { frozen }) => frozen !== null, recheck: 'each_request' },
  no_history: {
    holds: (_, { history, acceptNoHistory }) => !history.hasSnapshot && !acceptNoHistory,
    recheck: 'fixed',
  },
  max_deletes: { isExceeded: ({ total }, { maxDeletes }) => total > maxDeletes, recheck: 'fixed' },
  max_deletes_per_day: {
    isExceeded: ({ total, recent }, { maxDeletesPerDay }) => total > 0 && total + recent > maxDeletesPerDay,
    recheck: 'fixed',
  },
  max_delete_percent: {
    isExceeded: ({ ofKind, entries }, { maxDeletePercent }) =>
      entries >= 10 && ofKind * 100 > maxDeletePercent * entries,
    recheck: 'fixed',
  },
  failed_creates: { recheck: 'after_creates' },
};

/** Whether the delete depends on who has the entry. */
function usageMatters(extra: Extra | undefined, policy: Policy): boolean {
  return policy.delete === 'unused' || extra?.cause === 'renamed' || extra?.nearName !== undefined;
}

/** Whether the journal saw somebody with the entry, which is unused now, less time ago than `unusedFor` requires. */
function isTooNew({ kind, extra, usedBy }: Candidate, { policy, history, nowMs }: DeleteContext): boolean {
  if (usedBy.length > 0 || policy.unusedForMs === 0 || !usageMatters(extra, policy)) return false;
  const lastUsedMs = history.lastUsedMs.get(entryKey(kind, extra.entry.id));
  return lastUsedMs !== undefined && nowMs - lastUsedMs < policy.unusedForMs;
}

function recheckUse({ usedByThen, usedByNow, hasExpired }: DeleteNow): string | null {
  const planned = new Set(usedByThen);
  const added = usedByNow.filter((id) => !planned.has(id));
  if (added.length > 0) return `it was assigned to ${firstFew(added, 5)} during the run`;
  if (usedByNow.length === 0 || !hasExpired) return null;
  return 'people have it, and its allowedDeletes entry expired during the run';
}

function recheckMissingHolders({ hadMissingHolders, hasExpired }: DeleteNow): string | null {
  if (!hadMissingHolders || !hasExpired) return null;
  return 'people who are missing from the lists had it, and its allowedDeletes entry expired during the run';
}

function recheckPeople({ kind, policy, extra, findings }: DeleteNow): string | null {
  if (!findings.unknownHolders.has(kind) || policy.allowNoPeople || !usageMatters(extra, policy)) return null;
  return `the service stopped listing who has which ${kind} during the run`;
}

function recheckRename({ kind, extra, findings, pendingCreates }: DeleteNow): string | null {
  if (extra === undefined) return 'the other entry of this name was deleted or renamed during the run';
  if (extra.cause !== 'renamed') return null;
  const newName = extra.desiredName ?? '';
  const key = kindNameKey(kind, newName);
  // After an early delete, the plan's own create of the new name is pending.
  if (!findings.missing.has(key) || pendingCreates.has(key)) return null;
  return `the entry with its new name, “${newName}”, was deleted or renamed during the run`;
}
