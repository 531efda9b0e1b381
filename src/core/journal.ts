// The words of the journal: statuses, triggers, modes, rules and states. Its records are in schemas.ts.

/** The status of a run. */
export const RUN_STATUSES = [
  'running',
  'planned',
  'converged',
  'held',
  'partial',
  'blocked',
  'failed',
  'interrupted',
] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

export const OPERATION_STATUSES = [
  'pending',
  'sent',
  'done',
  'failed',
  'unknown',
  'held',
  'skipped',
] as const;
export type OperationStatus = (typeof OPERATION_STATUSES)[number];

/** What started a run: a command, or why its account was due. */
export const TRIGGERS = [
  'cli',
  'schedule',
  'start',
  'catch_up',
  'change',
  'resume',
  'doubt',
  'manual',
  'approval',
] as const;
export type Trigger = (typeof TRIGGERS)[number];

/**
 * What a run is allowed to do: `plan` never writes, `approve` writes what was approved, `approve-deletes` creates at once
 * and deletes what was approved.
 */
export const RUN_MODES = ['plan', 'approve', 'approve-deletes', 'apply'] as const;
export type RunMode = (typeof RUN_MODES)[number];

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

/** The policy rules by which an extra entry is left alone. */
export const LEAVE_RULES = ['unmanaged', 'protected', 'never_delete', 'duplicate'] as const;
export type LeaveRule = (typeof LEAVE_RULES)[number];

/** The states of an account, those that need a person first. */
export const ACCOUNT_STATES = [
  'service_invalid',
  'invalid',
  'failed',
  'blocked',
  'partial',
  'interrupted',
  'waiting',
  'drift',
  'held',
  'paused',
  'approved',
  'running',
  'queued',
  'new',
  'unknown',
  'converged',
  'removed',
] as const;
export type AccountStateName = (typeof ACCOUNT_STATES)[number];

const LONGEST = 200;

/** Cuts a subject to 200 characters (code points); an ellipsis marks the cut. */
export function cutSubject(subject: string): string {
  // A code point has at most two units, so only this part of a long text must be split.
  const characters = Array.from(subject.slice(0, 2 * (LONGEST + 1)));
  return characters.length <= LONGEST ? subject : `${characters.slice(0, LONGEST - 1).join('')}…`;
}
