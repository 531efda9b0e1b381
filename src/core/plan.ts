// The plan: a value that says what would be done and what would not, and why (contract, sections 3 and 4).
// Made by core/make-plan.ts; printed by report/; carried out by app/apply.ts.
import type { Kind, Warning } from './catalog.ts';

/** The rules that hold a change until a person or time releases it, in the order in which they are named. */
export const HOLD_RULES = [
  'in_use',
  'max_deletes',
  'max_deletes_per_day',
  'max_delete_percent',
  'empty_catalog',
  'rename',
  'suspected_rename',
  'failed_creates',
  'stale_source',
  'flapping',
  'too_new',
  'holders_missing',
  'freeze',
  'no_history',
  'no_people',
] as const;
export type HoldRule = (typeof HOLD_RULES)[number];

/** An open `freeze` window: its words, and when writing is allowed again; null when no end is in sight. */
export interface OpenFreeze {
  readonly window: string;
  readonly untilMs: number | null;
}

/** The standing policies by which an unnamed entry simply stays. */
export type LeaveRule = 'unmanaged' | 'protected' | 'never_delete' | 'duplicate';

/** One create or delete that the plan carries out. */
export interface Operation {
  readonly action: 'create' | 'delete';
  readonly kind: Kind;
  /** The name as it is sent (create, NFC) or as the service shows it (delete). */
  readonly name: string;
  readonly remoteId?: string;
  /** Ids of the people who have the entry, sorted; on deletes only. */
  readonly usedBy?: readonly string[];
  readonly reason?: string;
}

/** A change that waits: every rule that holds it, in HOLD_RULES order, and what would release it. */
export interface HeldChange {
  readonly action: 'create' | 'delete';
  readonly kind: Kind;
  readonly name: string;
  /** null for a held create. */
  readonly remoteId: string | null;
  readonly usedBy: readonly string[];
  readonly rules: readonly HoldRule[];
  readonly reason: string;
  readonly release: string;
}

/** An entry that the file does not name and that standing policy keeps. No difference. */
export interface LeftAlone {
  readonly kind: Kind;
  readonly name: string;
  readonly remoteId: string;
  readonly rule: LeaveRule;
}

/** Counts over the managed kinds. `keep` counts desired names that are there. */
export interface PlanSummary {
  readonly create: number;
  readonly delete: number;
  readonly hold: number;
  readonly keep: number;
  readonly leave: number;
}

/** A plan of one account. The same inputs give the same value, `createdAt` aside. */
export interface Plan {
  readonly schemaVersion: 1;
  readonly account: string;
  /** null when nothing listed carried an id and none is remembered or pinned. */
  readonly remoteAccountId: string | null;
  readonly createdAt: string;
  /** Covers the remote account id and the operations with their usedBy. `sha256:…` */
  readonly digest: string;
  readonly configDigest: string;
  readonly observedDigest: string;
  readonly configCommit: string | null;
  /** `blocked` when a guard refuses to write anything at all, else `planned`. */
  readonly status: 'planned' | 'blocked';
  readonly summary: PlanSummary;
  readonly operations: readonly Operation[];
  readonly held: readonly HeldChange[];
  readonly leftAlone: readonly LeftAlone[];
  readonly warnings: readonly Warning[];
}

/** What stands in the place of a plan for an account that could not be planned. */
export interface FailedPlan {
  readonly schemaVersion: 1;
  readonly account: string;
  readonly status: 'failed';
  readonly error: { readonly code: string; readonly message: string };
}

/** The code of a failed plan whose account the daemon that was asked does not have. */
export const UNKNOWN_ACCOUNT = 'unknown_account';

export type PlanResult = Plan | FailedPlan;
