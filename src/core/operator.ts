// What an operator does with accounts, on the command line or over HTTP: approve, sync, pause and resume one, or pause all.
import { DAY_MS, utcTime } from './durations-and-sizes.ts';
import type { ReviewedPlan } from './plan.ts';

export const OPERATOR_ACTIONS = ['sync', 'approve', 'pause', 'resume'] as const;
export type OperatorAction = (typeof OPERATOR_ACTIONS)[number];
/** `fetch`: the source of the configuration. */
export const RECORDED_ACTIONS = [...OPERATOR_ACTIONS, 'fetch'] as const;
export type RecordedAction = (typeof RECORDED_ACTIONS)[number];

/** Who gives a command: on the command line `user@host`, over HTTP the name of the token, or the one that a proxy reports. */
export interface Operator {
  readonly name: string;
  readonly via: 'cli' | 'http';
}

/** The name of the operator for `http.token`, which several people may share. */
export const HTTP_OPERATOR = 'http';

/** The longest reason of a pause, in UTF-16 code units. */
export const MAX_REASON = 300;
export const REASON_TOO_LONG = `the reason of a pause has at most ${MAX_REASON} characters`;

/** Whether the text may be the reason of a pause. */
export function isPauseReason(reason: string | null): boolean {
  return reason === null || reason.length <= MAX_REASON;
}

/** Why scheduled runs are stopped. */
export interface Pause {
  readonly sinceMs: number;
  readonly by: string;
  readonly reason: string | null;
}

/** A pause of all accounts of the store, also of later ones: it binds each run, of the daemon and of `apply`. */
export interface PauseOfAll extends Pause {
  readonly reason: string;
  /** By the clock of the store; null: until an operator ends it. */
  readonly untilMs: number | null;
  /** Whether creates continue. */
  readonly onlyDeletes: boolean;
}

/** The code of a run that a pause of all accounts kept from writing. */
export const PAUSED = 'paused';

/** The header of an answer with plans that has this sentence, with the escapes of a URL. */
export const PAUSE_HEADER = 'rolecall-pause';

/** A sentence without its full stop: who paused what, why and until when. null without a pause. */
export function describePause(pause: PauseOfAll | null): string | null {
  if (pause === null) return null;
  const { onlyDeletes, by, sinceMs, untilMs, reason } = pause;
  const what = onlyDeletes ? 'The deletes of all accounts are' : 'All accounts are';
  const until = untilMs === null ? '' : ` until ${utcTime(untilMs)}`;
  return `${what} paused since ${utcTime(sinceMs)}${until} by ${by}: “${reason}”`;
}

/** The error of a run that the pause binds. */
export function pausedError(pause: PauseOfAll): { readonly code: typeof PAUSED; readonly message: string } {
  const message = `${describePause(pause) ?? ''}. Run \`rolecall resume --all\` to end the pause, or \`rolecall apply NAME --accept pause\` to repair an account meanwhile`;
  return { code: PAUSED, message };
}

/** A plan that waits for approval. */
export interface PendingPlan {
  readonly digest: string;
  readonly runId: string;
  readonly sinceMs: number;
}

/** An approval of one plan: valid once, for 24 hours. */
export interface Approval {
  readonly digest: string;
  readonly by: string;
  readonly givenAtMs: number;
  readonly expiresAtMs: number;
}

/** An accepted plan: the plan of the run must be the same, otherwise nothing is written (`plan_stale`). */
export interface AgreedPlan {
  readonly digest: string;
  /**
   * The observation of a plan that was made before the store contained lists of the account; null for any other plan.
   * Such a plan stored the first lists itself, which alone must not make it stale: while the lists are the same, a run
   * holds the deletes that the plan held.
   */
  readonly firstObserved: string | null;
  /** The plan itself, where it is at hand: a run that refuses it reports what changed since. */
  readonly reviewed?: ReviewedPlan | null;
}

export const APPROVAL_LIFE_MS = DAY_MS;

/** Whether an approval is too old, or so far in the future that the clock was set back since. */
export function hasExpired({ givenAtMs, expiresAtMs }: Approval, nowMs: number): boolean {
  return expiresAtMs <= nowMs || givenAtMs > nowMs + APPROVAL_LIFE_MS;
}

/** How an operator names a plan: by its digest, or by a prefix that is too long to be a guess. */
export const PLAN_DIGEST = /^(sha256:)?[0-9a-f]{8,64}$/;

/** What an operator requests of an account, or with `fetch` of the source of the configuration. */
export interface OperatorRequest {
  readonly action: RecordedAction;
  /** ALL_ACCOUNTS for `fetch`. */
  readonly account: string;
  /** The plan to approve, or the first hex digits of its digest, at least eight; null: the one that waits. */
  readonly digest?: string | null;
  /** Why the account is paused. */
  readonly reason?: string | null;
}

/** What became of it. `other_plan`: another plan waits than the one to approve; nothing was changed. */
export type OperatorOutcome =
  | { readonly type: 'queued' | 'paused' | 'resumed' | 'nothing_pending' }
  | { readonly type: 'approved'; readonly digest: string; readonly expiresAtMs: number }
  | { readonly type: 'other_plan'; readonly pending: string };

/** The result of a run's look-up of its approval. */
export type ApprovalTaking =
  | { readonly type: 'taken' | 'none' }
  | { readonly type: 'lapsed'; readonly digest: string; readonly reason: 'changed' | 'expired' };

/** In the record of a command that concerns all accounts. */
export const ALL_ACCOUNTS = '*';

/** Stores the commands of operators, and who gave them. All methods may throw StoreError. */
export interface OperatorCommands {
  operate(request: OperatorRequest, by: Operator, nowMs: number): Promise<OperatorOutcome>;
  /** Pauses all accounts, in place of an earlier pause of all. `forMs`: how long; null: until `resumeAll`. */
  pauseAll(
    pause: Pick<PauseOfAll, 'reason' | 'onlyDeletes'> & { readonly forMs: number | null },
    by: Operator,
    nowMs: number,
  ): Promise<PauseOfAll>;
  /** Ends the pause of all accounts; null when there is none. */
  resumeAll(by: Operator, nowMs: number): Promise<PauseOfAll | null>;
}
