// The facts that the rules of hold-rules.ts judge: of one extra entry, of the plan, and of a run right before a delete.
import type { AllowedDelete, AllowedRun, Entry, Kind, Policy } from './catalog.ts';
import type { Extra } from './diff.ts';
import type { History } from './history.ts';
import type { OpenFreeze, OpenRollout, SourceAge } from './plan.ts';
import type { LeaveRule, HoldRule } from './journal.ts';
import type { UnknownHolders } from './unknown-holders.ts';
import type { EntryKey, UsageIndex } from './usage.ts';

/** An extra entry that may be deleted, with the facts that the rules judge. */
export interface Candidate {
  readonly kind: Kind;
  readonly extra: Extra;
  readonly usedBy: readonly string[];
  /** Until when it counts as used although these lists show nobody with it, in epoch milliseconds; null: it does not. */
  readonly usedUntilMs: number | null;
  /** Whether a person who had it, or the field of one, is missing from these lists. */
  readonly isPersonMissing: boolean;
  /** Whether `allowedDeletes` names this entry and no other extra one, and the line was not used for another entry. */
  readonly allowed: boolean;
  /** The extra entries of this name; a line of `allowedDeletes` releases one entry, so of two it releases none. */
  readonly alike: number;
  /** The missing names whose create may have made this entry, because its answer was lost. */
  readonly mayBe: readonly string[];
  /** The near missing name whose create the service refused, which it may do for as long as this entry exists. */
  readonly blocks: string | undefined;
}

/** A held delete, with the advice how to allow it. */
export interface HeldDelete extends Candidate {
  readonly allow: string;
}

/** A desired name that no entry has. */
export interface MissingName {
  readonly kind: Kind;
  readonly name: string;
  /** The new entries that an earlier create of the name may have made. */
  readonly results: readonly Entry[];
}

/** What the rules depend on besides the entry itself. */
export interface PolicyContext {
  readonly policy: Policy;
  readonly usage: UsageIndex;
  readonly history: History;
  readonly nowMs: number;
  /** `YYYY-MM-DD`, UTC. */
  readonly today: string;
  /** The `freeze` window that is open now, or null. */
  readonly frozen: OpenFreeze | null;
  /** The newer commit that other accounts must run first, or null. */
  readonly rollout: OpenRollout | null;
  readonly source: SourceAge;
  /** Whether a configuration that is older than the applied one, or may be, is accepted. */
  readonly acceptOlderSource: boolean;
  /** In the daemon, the files of the account that differ from their commit; null when that is not known. */
  readonly uncommitted: readonly string[] | null;
  /** All lines of the file, those that have expired too. */
  readonly allowances: readonly AllowedDelete[];
  /** The kinds of which nobody can tell who has what, and nobody has accepted that. */
  readonly unknownHolders: ReadonlyMap<Kind, UnknownHolders>;
  /** Whether deletes are allowed although the store contains no earlier lists of this account. */
  readonly acceptNoEvidence: boolean;
  readonly configCommit: string | null;
  /** The commit that was last applied to the account, or null. */
  readonly appliedCommit: string | null;
}

/** The same with what the plan decided before its deletes. */
export interface DeleteContext extends PolicyContext {
  /** `kind:name key` of the creates that the plan holds. */
  readonly heldCreates: Pick<ReadonlySet<string>, 'has'>;
}

/** The deletes of one kind. */
export interface KindCounts {
  readonly deletes: number;
  /** The entries of the kind. */
  readonly entries: number;
  /** Whether the file asks for an empty list, which counts as 100 %. */
  readonly isEmptied: boolean;
}

export interface DeleteCounts {
  readonly total: number;
  /** The deletes of the last 24 hours. */
  readonly recent: number;
  readonly ofKind: ReadonlyMap<Kind, KindCounts>;
}

/** The same with the deletes that no other rule holds. */
export interface PlanFacts extends PolicyContext {
  readonly counts: DeleteCounts;
}

/** An extra entry with the decision about it and the facts behind the decision. */
export interface JudgedEntry extends Candidate {
  readonly leave: LeaveRule | null;
  /** In HOLD_RULES order; empty when the entry may be deleted, or is left alone. */
  readonly holds: readonly HoldRule[];
}

/** A missing name with the rules that hold its create, in HOLD_RULES order. */
export interface JudgedCreate extends MissingName {
  readonly holds: readonly HoldRule[];
}

export interface Judgement {
  readonly extras: readonly JudgedEntry[];
  readonly creates: readonly JudgedCreate[];
  readonly counts: DeleteCounts;
  /** The line of `allowedDeletes` that releases the limits; null when no limit is exceeded, or none does. */
  readonly released: AllowedRun | null;
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
  /** Whether the entry counted as used when the plan was made, although no list showed anybody with it. */
  readonly wasUsedBefore: boolean;
  /** Whether the line of `allowedDeletes` on which the plan relied has expired since. */
  readonly hasExpired: boolean;
  /** `kind:name key` of creates that the run has not sent yet. */
  readonly pendingCreates: ReadonlySet<string>;
}
