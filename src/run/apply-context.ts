// What the steps of an apply share: the numbered operations, their results, and the reason to stop.
import { LONGEST_WAIT_MS } from '../core/backoff.ts';
import { type Action, type Entry, type Kind, KINDS, type ObservedCatalog } from '../core/catalog.ts';
import { type AwaitedEntry, type History, kindNameKey } from '../core/history.ts';
import { nameKey } from '../core/names.ts';
import type { OperationStatus } from '../core/journal.ts';
import type { Operation } from '../core/plan.ts';
import { type EntryKey, entryKey, namesByKey } from '../core/usage.ts';
import type { OperationResult } from '../core/ports/journal.ts';
import type { ServiceReader, ServiceWriter } from '../core/ports/service.ts';
import type { ServiceError } from '../core/errors.ts';
import { pausedError } from '../core/operator.ts';
import type { ChangeWatch } from './changes-during-run.ts';
import type { OperationLog } from './operation-log.ts';
import type { AccountRequest, ApplyDeps } from './request.ts';
import { LOCK_LOST, stopReason } from './run-result.ts';

/** An operation with its place in the journal. */
export interface NumberedOperation extends Operation {
  readonly seq: number;
}

/** Why the run starts no further operation. */
export interface Halt {
  readonly code:
    | 'interrupted'
    | 'lock_lost'
    | 'paused'
    | 'changed_during_run'
    | 'unauthorized'
    | 'throttled'
    | 'identity_mismatch'
    | 'suspicious_list'
    | 'store_failed';
  readonly message: string;
  /** The pause that the service asked for. */
  readonly retryAfterMs?: number;
}

export interface ApplyContext {
  readonly request: AccountRequest;
  readonly deps: ApplyDeps;
  readonly reader: ServiceReader;
  readonly writer: ServiceWriter;
  readonly log: OperationLog;
  readonly planned: ObservedCatalog;
  /** The history that the plan is based on. */
  readonly history: History;
  /** Epoch milliseconds of the plan. */
  readonly plannedAtMs: number;
  /** A description of the freeze window that is open now, or null. */
  readonly frozen: () => string | null;
  readonly operations: readonly NumberedOperation[];
  /** null until an answer carries an account id, where no listed object does. */
  remoteAccountId: string | null;
  /** Whether a list or an answer carried an account id, so that the account is confirmed. */
  identified: boolean;
  /** Checks the account id of an answer and remembers it. Resolves with the error message, or null. */
  readonly claimAccountId: (accountId: string) => Promise<string | null>;
  /** Ids that no create in doubt can have made: listed or journaled before, or confirmed in this run. */
  readonly known: Set<EntryKey>;
  /** `kind:name key` of names that lists have shown since the plan, of entries that this run has not made. */
  readonly appeared: Set<string>;
  /** The current result of each operation, by `seq`. */
  readonly statuses: Map<number, OperationResult>;
  /** How many operations have these statuses now. */
  readonly counts: { failed: number; unknown: number };
  halt: Halt | null;
  readonly change: ChangeWatch;
  /** The pause of all deletes that began during the run: why nothing more may be deleted. */
  deletesStopped: string | null;
}

/** Journals the result of an operation. */
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
  // A doubtful operation receives a second result.
  count(context, context.statuses.get(seq)?.status, -1);
  count(context, status, 1);
  context.statuses.set(seq, result);
  context.log.result(result);
  reportCounts(context, context.operations[seq - 1]?.action ?? 'create');
}

function count({ counts }: ApplyContext, status: OperationStatus | undefined, by: number): void {
  if (status === 'failed' || status === 'unknown') counts[status] += by;
}

/** Reports how many operations have a result, and what the run does now. */
export function reportCounts({ counts, operations, request, statuses }: ApplyContext, action: Action): void {
  const { failed, unknown: doubtful } = counts;
  const done = statuses.size - doubtful;
  request.progress?.({ type: 'apply', action, done, total: operations.length, failed, doubtful });
}

/** The entries whose delete has one of these statuses in this run. Creates are left out, since they have no id yet. */
export function deletedWithStatus(
  { operations, statuses }: ApplyContext,
  wanted: readonly OperationStatus[],
): Set<EntryKey> {
  return new Set(
    operations
      .filter(({ seq }) => wanted.includes(statuses.get(seq)?.status ?? 'pending'))
      .flatMap(({ kind, remoteId }) => (remoteId === undefined ? [] : [entryKey(kind, remoteId)])),
  );
}

/** Marks operations that have no result as planned and not tried, with the reason. */
export function skip(context: ApplyContext, operations: readonly NumberedOperation[], reason: string): void {
  for (const { seq } of operations) {
    if (!context.statuses.has(seq)) conclude(context, seq, 'skipped', { reason });
  }
}

/** Holds an operation because a freeze window opened during the run. */
export function holdFrozen(context: ApplyContext, seq: number, window: string, attempts: number): void {
  const reason = `a freeze window (${window}) opened during the run`;
  conclude(context, seq, 'held', { attempts, rule: 'freeze', reason });
}

/** Halts the run when it received a signal. Returns whether the run is halted, so that no further operation may start. */
export function haltIfStopped(context: ApplyContext): boolean {
  context.halt ??= stopReason(context.request.signals.stop);
  return context.halt !== null;
}

/** Halts the run also when the account's file or its pause changed since the run began. `again`: reads them now. */
export async function haltIfChanged(context: ApplyContext, again?: boolean): Promise<boolean> {
  if (haltIfStopped(context)) return true;
  const message = await context.change(again);
  if (message !== null) context.halt ??= { code: 'changed_during_run', message };
  return haltIfStopped(context);
}

/**
 * Journals an operation as sent, directly before its request. Resolves with whether it may be sent: not when the account's
 * file or its pause changed, when the run has lost its lock, or when a pause of all accounts began before this commit.
 */
export async function markSent(context: ApplyContext, { seq, action }: NumberedOperation): Promise<boolean> {
  if (await haltIfChanged(context)) return false;
  const committed = await context.log.sent(seq, context.deps.clock.nowMs());
  if (committed === 'lock_lost') context.halt ??= LOCK_LOST;
  else if (committed !== 'committed' && context.request.accept?.has('pause') !== true) {
    const paused = pausedError(committed);
    if (!committed.onlyDeletes) context.halt ??= paused;
    else if (action === 'delete') context.deletesStopped ??= paused.message;
  }
  // While the row was committed, another answer may have shown that this is the wrong account.
  return !haltIfStopped(context) && (action === 'create' || context.deletesStopped === null);
}

/** Why nothing more is sent while neither a list nor an answer carries an account id. */
export const UNIDENTIFIED =
  'no list or answer of the service carries an account id, so rolecall cannot confirm that this is the intended account';

/** Halts the run on 401, 403, a list of another account and a long Retry-After. */
export function noteFailure(context: ApplyContext, error: ServiceError): void {
  const { kind, message, retryAfterMs = 0 } = error;
  if (kind === 'auth') context.halt ??= { code: 'unauthorized', message };
  if (kind === 'identity') context.halt ??= { code: 'identity_mismatch', message };
  if (kind === 'throttled' && retryAfterMs > LONGEST_WAIT_MS) {
    context.halt ??= { code: 'throttled', message, retryAfterMs };
  }
}

/**
 * Runs `work` for each operation in their order, at most `concurrency` at once, until all are done, the run is halted or
 * `mayStart` is false. After an error nothing more is started, and it is thrown when the others have ended.
 */
export async function forEachOperation(
  context: ApplyContext,
  operations: readonly NumberedOperation[],
  work: (operation: NumberedOperation) => Promise<void>,
  mayStart: () => boolean = () => true,
): Promise<void> {
  const failures: unknown[] = [];
  const next = operations.values();
  async function worker(): Promise<void> {
    while (!haltIfStopped(context) && mayStart()) {
      const { value: operation } = next.next();
      if (operation === undefined) return;
      await work(operation).catch((error: unknown) => {
        // The journal cannot be written: nothing more may be sent, but requests in flight are awaited.
        failures.push(error);
        context.halt ??= { code: 'store_failed', message: 'the journal could not be written' };
      });
    }
  }
  await Promise.all(Array.from({ length: context.request.api.concurrency }, worker));
  if (failures.length > 0) throw failures[0];
}

/**
 * The plan's history with the entries that the run created: found by their ids, whatever name the first list shows, or
 * awaited while no list shows them. An older entry that somebody has renamed since no longer counts as the requested one.
 */
export function runHistory(
  { history, planned, operations, statuses }: ApplyContext,
  observed: ObservedCatalog,
): History {
  const names = namesByKey(observed);
  const before = namesByKey(planned);
  const requestedNames = new Map(
    [...history.requestedNames].filter(([key]) => names.get(key) === before.get(key)),
  );
  const awaited: AwaitedEntry[] = [...history.awaited];
  for (const { seq, kind, name: requested } of operations) {
    const entry = statuses.get(seq)?.entry;
    if (entry === undefined) continue;
    const key = entryKey(kind, entry.remoteId);
    if (names.has(key)) requestedNames.set(key, requested);
    else awaited.push({ kind, name: requested, remoteId: entry.remoteId });
  }
  return { ...history, requestedNames, awaited };
}

/** The requested name of each entry that this run has created. */
export function createdEntries({ operations, statuses }: ApplyContext): Map<EntryKey, string> {
  return new Map(
    operations.flatMap(({ kind, name, seq }): [EntryKey, string][] => {
      const entry = statuses.get(seq)?.entry;
      return entry === undefined ? [] : [[entryKey(kind, entry.remoteId), name]];
    }),
  );
}

/** Remembers the names that a list shows and the lists of the plan lacked: a create of one would make a duplicate. */
export function noteAppeared(context: ApplyContext, lists: Readonly<Record<Kind, readonly Entry[]>>): void {
  const before = namesByKey(context.planned);
  const created = createdEntries(context);
  for (const kind of KINDS) {
    for (const { id, name } of lists[kind]) {
      const key = entryKey(kind, id);
      const isNew = !created.has(key) && nameKey(before.get(key) ?? '') !== nameKey(name);
      if (isNew) context.appeared.add(kindNameKey(kind, name));
    }
  }
}

/** Journals a create that happened, and checks its account id before anything else may be sent. */
export async function confirmCreate(
  context: ApplyContext,
  { kind, seq }: NumberedOperation,
  entry: Entry,
  details: { attempts: number; httpStatus: number | null; reason?: string },
): Promise<void> {
  const { known } = context;
  const key = entryKey(kind, entry.id);
  // A service that answers with an older entry created nothing, so rolecall must not own that entry.
  const existed = known.has(key);
  known.add(key);
  const isOwn = await confirmOwner(context, entry);
  conclude(context, seq, 'done', {
    ...details,
    reason: existed ? 'the service answered with an entry that already existed' : (details.reason ?? null),
    entry: {
      remoteId: entry.id,
      name: entry.name,
      existed,
      ...(isOwn || entry.accountId === undefined ? {} : { accountId: entry.accountId }),
    },
  });
}

/** Confirms the account by the id of an answer, if it carries one. Halts the run and returns false for another account. */
export async function confirmOwner(context: ApplyContext, { accountId }: Entry): Promise<boolean> {
  if (accountId === undefined) return true;
  if (context.identified && accountId === context.remoteAccountId) return true;
  const wrong = await context.claimAccountId(accountId);
  if (wrong === null) {
    context.remoteAccountId = accountId;
    context.identified = true;
  } else context.halt ??= { code: 'identity_mismatch', message: wrong };
  return wrong === null;
}
