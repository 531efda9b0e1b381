// The plan: a value with the operations, the held changes and the reasons. core/make-plan.ts makes it, report/ prints it,
// run/execute-plan.ts applies it.
import type { Action, Warning } from './catalog.ts';
import type { failedPlanSchema, planSchema, Typed } from './schemas.ts';

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

/** A plan of one account. The same inputs give the same value, `createdAt` aside. */
export interface Plan extends Omit<Typed<typeof planSchema>, 'warnings'> {
  readonly warnings: readonly Warning[];
}

/** One create or delete: the name as it is sent (create, NFC) or as the service lists it (delete). */
export type Operation = Plan['operations'][number];

/** A held change: every rule that holds it, in HOLD_RULES order, and what releases it. */
export type HeldChange = Plan['held'][number];

/** An extra entry that the policy leaves alone. It does not count as a difference. */
export type LeftAlone = Plan['leftAlone'][number];

/** Counts over the managed kinds. `keep` counts desired names that exist. */
export type PlanSummary = Plan['summary'];

/** What is compared of the plan that an operator reviewed. */
export type ReviewedPlan = Pick<
  Plan,
  'remoteAccountId' | 'configDigest' | 'configCommit' | 'operations' | 'held'
>;

/** The result for an account that could not be planned. */
export type FailedPlan = Typed<typeof failedPlanSchema>;

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
