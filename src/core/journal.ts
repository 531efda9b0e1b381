// The records of the journal: runs and operations.
import type { Action, Kind } from './catalog.ts';

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

/** One row of `runs`. Times are UTC ISO 8601. */
export interface RunRecord {
  readonly id: string;
  readonly account: string;
  readonly remoteAccountId: string | null;
  readonly trigger: Trigger;
  /** Who started it: `user@host` of a command, or the name of an operator; null for a run by the schedule. */
  readonly actor: string | null;
  readonly mode: RunMode;
  readonly status: RunStatus;
  readonly startedAt: string;
  readonly finishedAt: string | null;
  readonly configDigest: string | null;
  readonly configCommit: string | null;
  /** Whether the configuration's folder differed from the commit; null when it is not in git. */
  readonly configDirty: boolean | null;
  readonly configAuthoredAt: string | null;
  readonly configAuthor: string | null;
  readonly configSubject: string | null;
  readonly planDigest: string | null;
  /** What the plan of the run would do; null before it planned. */
  readonly plannedCreates: number | null;
  readonly plannedDeletes: number | null;
  readonly created: number;
  readonly deleted: number;
  readonly held: number;
  readonly kept: number;
  readonly failed: number;
  readonly requests: number;
  readonly retries: number;
  readonly errorCode: string | null;
  readonly error: string | null;
}

/** One row of `operations`; `seq` starts at 1 within its run. */
export interface OperationRecord {
  readonly runId: string;
  readonly seq: number;
  readonly kind: Kind;
  readonly action: Action;
  readonly name: string;
  readonly remoteId: string | null;
  readonly status: OperationStatus;
  readonly rule: string | null;
  readonly reason: string | null;
  readonly attempts: number;
  readonly httpStatus: number | null;
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
}

const LONGEST = 200;

/** Cuts a subject to 200 characters (code points); an ellipsis marks the cut. */
export function cutSubject(subject: string): string {
  // A code point has at most two units, so only this part of a long text must be split.
  const characters = Array.from(subject.slice(0, 2 * (LONGEST + 1)));
  return characters.length <= LONGEST ? subject : `${characters.slice(0, LONGEST - 1).join('')}…`;
}
