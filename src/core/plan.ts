// The plan: a value with the operations, the held changes and the reasons. core/make-plan.ts makes it, report/ prints it,
// run/execute-plan.ts applies it.
import type { Action, Kind, Warning } from './catalog.ts';

/**
 * The rules that hold a change until an operator or time releases it, in the order of reports; hold-rules.ts has what they
 * mean. The first one is journaled, and what waits for a rollout must be recognised by it.
 */
export const HOLD_RULES = [
  'rollout',
  'in_use',
  'rename',
  'no_evidence',
  'too_many',
  'flapping',
  'source',
  'freeze',
  'failed_creates',
] as const;
export type HoldRule = (typeof HOLD_RULES)[number];

/** An open `freeze` window: its description, and when writing is allowed again; null when no end was found. */
export interface OpenFreeze {
  readonly window: string;
  readonly untilMs: number | null;
}

/** A newer commit that other accounts must run first. */
export interface OpenRollout {
  /** Its first digits. */
  readonly commit: string;
  /** What it waits for: accounts, each with its state. */
  readonly waitsFor: string;
  /** When the wait ends by itself; null while an account has not run it, or its run failed. */
  readonly untilMs: number | null;
}

/** The policy rules by which an extra entry is left alone. */
export type LeaveRule = 'unmanaged' | 'protected' | 'never_delete' | 'duplicate';

/** One create or delete of the plan. */
export interface Operation {
  readonly action: Action;
  readonly kind: Kind;
  /** The name as it is sent (create, NFC) or as the service lists it (delete). */
  readonly name: string;
  readonly remoteId?: string;
  /** Ids of the people who have the entry, sorted; on deletes only. */
  readonly usedBy?: readonly string[];
  readonly reason?: string;
}

/** A held change: every rule that holds it, in HOLD_RULES order, and what releases it. */
export interface HeldChange {
  readonly action: Action;
  readonly kind: Kind;
  readonly name: string;
  /** null for a held create. */
  readonly remoteId: string | null;
  readonly usedBy: readonly string[];
  readonly rules: readonly HoldRule[];
  readonly reason: string;
  readonly release: string;
  /** Of a rename its new name, declared or suspected. */
  readonly desiredName?: string;
  /** The line for `allowedDeletes` that the release advises to add. */
  readonly allowance?: string;
}

/** An extra entry that the policy leaves alone. It does not count as a difference. */
export interface LeftAlone {
  readonly kind: Kind;
  readonly name: string;
  readonly remoteId: string;
  readonly rule: LeaveRule;
}

/** Counts over the managed kinds. `keep` counts desired names that exist. */
export interface PlanSummary extends Readonly<Record<Action, number>> {
  readonly hold: number;
  readonly keep: number;
  readonly leave: number;
}

/** A plan of one account. The same inputs give the same value, `createdAt` aside. */
export interface Plan {
  readonly schemaVersion: 1;
  readonly account: string;
  /** null when no listed object carries an id and none is remembered or pinned. */
  readonly remoteAccountId: string | null;
  readonly createdAt: string;
  /** Covers the remote account id and the operations with their usedBy. `sha256:…` */
  readonly digest: string;
  readonly configDigest: string;
  readonly observedDigest: string;
  readonly configCommit: string | null;
  /** `blocked` when a guard stops all writes, otherwise `planned`. */
  readonly status: 'planned' | 'blocked';
  readonly summary: PlanSummary;
  readonly operations: readonly Operation[];
  readonly held: readonly HeldChange[];
  readonly leftAlone: readonly LeftAlone[];
  readonly warnings: readonly Warning[];
}

/** What is compared of the plan that an operator reviewed. */
export type ReviewedPlan = Pick<
  Plan,
  'remoteAccountId' | 'configDigest' | 'configCommit' | 'operations' | 'held'
>;

/** The result for an account that could not be planned. */
export interface FailedPlan {
  readonly schemaVersion: 1;
  readonly account: string;
  readonly status: 'failed';
  readonly error: { readonly code: string; readonly message: string };
}

/** The code of a failed plan of an account that the daemon does not have. */
export const UNKNOWN_ACCOUNT = 'unknown_account';

export type PlanResult = Plan | FailedPlan;

type Digested = Pick<Operation, 'action' | 'kind' | 'name' | 'remoteId' | 'usedBy'>;

/** `sha256:…` over the remote account id and the operations with their `usedBy`; `sha256` returns lower-case hexadecimal. */
export function planDigest(
  remoteAccountId: string | null,
  operations: readonly Digested[],
  sha256: (text: string) => string,
): string {
  const rows = operations.map(({ action, kind, name, remoteId, usedBy }) => [
    action,
    kind,
    name,
    remoteId ?? null,
    usedBy ?? null,
  ]);
  return `sha256:${sha256(JSON.stringify([remoteAccountId, rows]))}`;
}

/** Whether the plan deletes anything. */
export function hasDeletes({ operations }: Pick<Plan, 'operations'>): boolean {
  return operations.some(({ action }) => action === 'delete');
}

/** The plan without its deletes, or with them alone; the digest stays. */
export function onlyOf(action: Action, plan: Plan): Plan {
  const operations = plan.operations.filter((operation) => operation.action === action);
  const summary = { ...plan.summary, create: 0, delete: 0, [action]: operations.length };
  return { ...plan, operations, summary };
}

/**
 * The relation of the configuration's commit to the one that was last applied to the account. `unknown`: the last one had
 * a commit, and the present one has none, or git does not report it.
 */
export type SourceAge = 'current' | 'older' | 'diverged' | 'unknown';

/** Whether changes are held: the configuration is older than the last applied one, or that is unknown. */
export function isStaleSource(source: SourceAge): boolean {
  return source === 'older' || source === 'unknown';
}

/** The code of a confirmed change that no list shows yet. */
export const NOT_SHOWN_YET = 'not_shown_yet';

/** Marks a plan of an older commit that the operator accepted. */
export const OLDER_SOURCE = 'older_source';

/** Marks a plan that was made without earlier lists of its account. */
export const NO_HISTORY = 'no_history';

/** Marks the plan of a file that names neither skills nor roles. */
export const NOTHING_MANAGED = 'nothing_managed';

/** Why a change is held, and what releases it. */
export interface Explanation {
  readonly reason: string;
  readonly release: string;
}
