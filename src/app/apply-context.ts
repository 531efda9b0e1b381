// What the steps of an apply share: the numbered operations, where results go, and why to stop.
import { LONGEST_WAIT_MS } from '../core/backoff.ts';
import type { ObservedCatalog } from '../core/catalog.ts';
import type { History } from '../core/history.ts';
import type { OperationStatus } from '../core/journal.ts';
import type { Operation } from '../core/plan.ts';
import type { OperationResult, ServiceReader, ServiceWriter } from '../core/ports.ts';
import type { ServiceError } from '../core/errors.ts';
import type { OperationLog } from './operation-log.ts';
import type { AccountRequest, ApplyDeps } from './request.ts';

/** An operation with its place in the journal. */
export interface NumberedOperation extends Operation {
  readonly seq: number;
}

/** Why nothing more is started. */
export interface Halt {
  readonly code:
    | 'interrupted'
    | 'lock_lost'
    | 'unauthorized'
    | 'throttled'
    | 'identity_mismatch'
    | 'suspicious_list'
    | 'store_failed';
  readonly message: string;
  readonly error?: ServiceError;
}

export interface ApplyContext {
  readonly request: AccountRequest;
  readonly deps: ApplyDeps;
  readonly reader: ServiceReader;
  readonly writer: ServiceWriter;
  readonly log: OperationLog;
  readonly planned: ObservedCatalog;
  /** As the plan was made by it. */
  readonly history: History;
  /** Epoch milliseconds of the plan. */
  readonly plannedAtMs: number;
  /** The freeze window that is open at this moment, in words, or null. */
  readonly frozen: () => string | null;
  readonly operations: readonly NumberedOperation[];
  /** null until the first answer tells, when nothing listed did. */
  remoteAccountId: string | null;
  /** Whether anything that the service said carried an account id, so that it is known whose account this is. */
  identified: boolean;
  /** Checks and remembers the account id of a first answer; resolves with what is wrong with it, or null. */
  readonly claimAccountId: (accountId: string) => Promise<string | null>;
  /** Statuses by `seq`, as they stand. */
  readonly statuses: Map<number, OperationResult>;
  readonly onProgress: () => void;
  halt: Halt | null;
}

/** Journals what became of an operation. */
export function conclude(
  context: ApplyContext,
  seq: number,
  status: OperationStatus,
  details: Partial<Omit<OperationResult, 'seq' | 'status' | 'atMs'>> = {},
): void {
  const result: OperationResult = {
    seq,
    status,
    attempts: 0,
    httpStatus: null,
    reason: null,
    rule: null,
    ...details,
    atMs: context.deps.clock.nowMs(),
  };
  context.statuses.set(seq, result);
  context.log.result(result);
  context.onProgress();
}

/** Marks operations as planned and not tried, with the reason. */
export function skip(context: ApplyContext, operations: readonly NumberedOperation[], reason: string): void {
  for (const { seq } of operations) {
    if (!context.statuses.has(seq)) conclude(context, seq, 'skipped', { reason });
  }
}

/** Holds what a freeze window that opened in the course of the run forbids to send. */
export function holdFrozen(context: ApplyContext, seq: number, window: string, attempts: number): void {
  const reason = `a freeze window (${window}) opened while the run was under way`;
  conclude(context, seq, 'held', { attempts, rule: 'freeze', reason });
}

/** Whether nothing more may be started: a halt that happened, or a signal. */
export function halted(context: ApplyContext): boolean {
  if (context.halt === null && context.request.signals.stop.aborted) {
    context.halt = { code: 'interrupted', message: 'the run was interrupted, and started nothing more' };
  }
  return context.halt !== null;
}

/** Why nothing more is sent where neither a list nor an answer told whose account this is. */
export const UNIDENTIFIED =
  'nothing that the service said carries an account id, so nobody knows that this is the account that is meant';

/** 401, 403, a list of another account and a long Retry-After end the whole account at once. */
export function noteFailure(context: ApplyContext, error: ServiceError): void {
  if (context.halt !== null) return;
  if (error.kind === 'auth') {
    context.halt = { code: 'unauthorized', message: 'the service refused the token', error };
  }
  if (error.kind === 'identity') {
    context.halt = { code: 'identity_mismatch', message: 'a list was of another account', error };
  }
  if (error.kind === 'throttled' && (error.retryAfterMs ?? 0) > LONGEST_WAIT_MS) {
    context.halt = { code: 'throttled', message: 'the service asked to be left alone', error };
  }
}

/** Runs `work` over the operations, at most `concurrency` at once, until they end or the run is halted. */
export async function forEachOperation(
  context: ApplyContext,
  operations: readonly NumberedOperation[],
  work: (operation: NumberedOperation) => Promise<void>,
): Promise<void> {
  const queue = operations[Symbol.iterator]();
  let failure: { readonly error: unknown } | null = null;
  async function worker(): Promise<void> {
    for (const operation of queue) {
      if (halted(context)) return;
      try {
        await work(operation);
      } catch (error) {
        // The journal cannot be written: nothing more may be sent, but what is in flight is waited for.
        failure ??= { error };
        context.halt ??= { code: 'store_failed', message: 'the journal could not be written' };
        return;
      }
    }
  }
  const workers = Math.min(context.request.api.concurrency, operations.length);
  await Promise.all(Array.from({ length: workers }, worker));
  rethrow(failure);
}

function rethrow(failure: { readonly error: unknown } | null): void {
  if (failure !== null) throw failure.error;
}
