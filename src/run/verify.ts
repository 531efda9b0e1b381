// After writing: reads the lists until they show what was sent, decides what is in doubt, and warns of the rest.
import { NOT_SHOWN_YET } from '../core/plan.ts';
import { KINDS, type ObservedCatalog, type Warning } from '../core/catalog.ts';
import { ServiceError } from '../core/errors.ts';
import { missingDesiredNames } from '../core/diff.ts';
import { nameKey } from '../core/names.ts';
import { leaveRulesOf } from '../core/policy.ts';
import { kindNameKey } from '../core/history.ts';
import type { OperationResult } from '../core/ports/journal.ts';
import { type EntryKey, entryKey, keysOf } from '../core/usage.ts';
import {
  type ApplyContext,
  conclude,
  confirmCreate,
  createdEntries,
  noteAppeared,
  noteFailure,
  type NumberedOperation,
  runHistory,
} from './apply-context.ts';
import { findCreated } from './doubtful-operations.ts';
import { readLists, watchLists } from './lists.ts';

interface Verification {
  /** The last lists that were read; null when the last reading failed. */
  readonly observed: ObservedCatalog | null;
  /** Changes that no list shows, desired names that are missing, and entries that appeared. Empty: verified. */
  readonly warnings: readonly Warning[];
}

/**
 * Verifies the operations of a run at its end. Returns a failure of the service as a warning. `handled`: `kind:name key` of
 * creates that were tried or held: their own status explains why they are missing.
 */
export async function verify(context: ApplyContext, handled: ReadonlySet<string>): Promise<Verification> {
  const startedAtMs = context.deps.clock.steadyMs();
  let vanished: Warning[] = [];
  const { observed, failure, open } = await watchOperations(context, context.operations, {
    read: () => readLists(context.reader),
    isEnough(lists, readAtMs) {
      vanished = vanishedNames(context, handled, lists);
      // For changes of others one more reading is enough.
      return vanished.length === 0 || readAtMs - startedAtMs >= context.request.api.recheckMs;
    },
  });
  if (failure !== null || observed === null) return { observed: null, warnings: [unverified(failure)] };
  const late = open.flatMap((operation) => {
    const result = context.statuses.get(operation.seq);
    return result?.status === 'done' ? [notShown(operation, result)] : [];
  });
  return { observed, warnings: [...late, ...vanished, ...appearedEntries(context, observed)] };
}

interface Watched {
  /** The lists that were read last; null when none could be read. */
  readonly observed: ObservedCatalog | null;
  /** Of the last reading. */
  readonly failure: ServiceError | null;
  /** The operations that no list shows. */
  readonly open: readonly NumberedOperation[];
}

interface WatchOptions {
  readonly read: () => Promise<ObservedCatalog>;
  /** Whether the lists need not be read again for another reason than these operations. */
  readonly isEnough?: (lists: ObservedCatalog, readAtMs: number) => boolean;
}

/**
 * Reads the lists until they show what these operations did, each for at most `settle` after its answer. Decides those whose
 * outcome is unknown: the result of a create is a new entry of its name; a delete is done, whatever the service answered, when
 * two readings lack its entry. What no list shows stays unknown.
 */
export async function watchOperations(
  context: ApplyContext,
  operations: readonly NumberedOperation[],
  { read, isEnough = () => true }: WatchOptions,
): Promise<Watched> {
  const { api, progress, signals } = context.request;
  const { clock } = context.deps;
  // On the steady clock, so that a change of the system clock neither ends nor prolongs a wait.
  const [startedAtMs, startedAt] = [clock.steadyMs(), clock.nowMs()];
  const dueAtMs = new Map(
    operations.flatMap((operation): [NumberedOperation, number][] => {
      const result = context.statuses.get(operation.seq);
      if (result === undefined || !mayShow(operation, result)) return [];
      const endedAtMs = startedAtMs - Math.max(0, startedAt - result.atMs);
      return [[operation, isRefused(result) ? -Infinity : endedAtMs + api.settleMs]];
    }),
  );
  /** Since when the lists lack the entry of a delete whose outcome they decide. */
  const lackedAtMs = new Map<NumberedOperation, number>();
  let watched: Watched = { observed: null, failure: null, open: [...dueAtMs.keys()] };

  function report(waiting: number): number {
    const ends = watched.open.map((operation) => dueAtMs.get(operation) ?? 0);
    const again = [...lackedAtMs.values()].map((sinceMs) => sinceMs + api.recheckMs);
    const forMs = Math.max(0, Math.max(0, ...ends, ...again) - clock.steadyMs());
    progress?.({ type: 'verify', operations: waiting, forMs });
    return forMs;
  }

  /** One list is no evidence that an entry is gone: another one, after `recheck`, must lack it too. */
  function isGone(operation: NumberedOperation, isListed: boolean, readAtMs: number): boolean {
    if (isListed) lackedAtMs.delete(operation);
    else if (!lackedAtMs.has(operation)) lackedAtMs.set(operation, readAtMs);
    return readAtMs - (lackedAtMs.get(operation) ?? Infinity) >= api.recheckMs;
  }

  report(dueAtMs.size);
  await watchLists({ clock, stop: signals.stop }, async (readAtMs) => {
    const isDue = (operation: NumberedOperation): boolean => readAtMs >= (dueAtMs.get(operation) ?? 0);
    try {
      const observed = await read();
      const listed = keysOf(observed);
      await settleCreates(context, watched.open, { observed, isDue });
      for (const operation of watched.open) {
        if (operation.action !== 'delete' || context.statuses.get(operation.seq)?.status === 'done') continue;
        const isListed = listed.has(entryKey(operation.kind, operation.remoteId ?? ''));
        if (!isGone(operation, isListed, readAtMs)) continue;
        const { attempts = 1, httpStatus = null } = context.statuses.get(operation.seq) ?? {};
        conclude(context, operation.seq, 'done', {
          attempts,
          httpStatus,
          reason: 'the list no longer shows it',
        });
        lackedAtMs.delete(operation);
      }
      noteAppeared(context, observed);
      const open = [...dueAtMs.keys()].filter((operation) => !isShown(context, operation, listed));
      watched = { observed, failure: null, open };
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      if (error.kind === 'identity') noteFailure(context, error);
      watched = { observed: watched.observed, failure: error, open: [...dueAtMs.keys()] };
    }
    const { observed, failure, open } = watched;
    if (failure?.kind === 'auth' || failure?.kind === 'malformed' || context.halt !== null) return null;
    const waiting = open.filter((operation) => !isDue(operation) || lackedAtMs.has(operation)).length;
    const isRead = failure === null && observed !== null;
    if (waiting > 0 || (isRead && !isEnough(observed, readAtMs))) return report(waiting);
    return null;
  });
  return watched;
}

/** Whether a list can show something of an operation: it was done, or a request was sent that may have had an effect. */
function mayShow({ action }: NumberedOperation, { status, attempts }: OperationResult): boolean {
  if (status === 'done' || status === 'unknown') return true;
  return action === 'delete' && status === 'failed' && attempts > 0;
}

/** Whether one reading decides about a refused delete. After 404 and 410 a stale list has time to show that it is gone. */
function isRefused({ status, httpStatus }: OperationResult): boolean {
  return status === 'failed' && httpStatus !== 404 && httpStatus !== 410;
}

function isShown({ statuses }: ApplyContext, operation: NumberedOperation, listed: Set<EntryKey>): boolean {
  const { seq, action, kind, remoteId = '' } = operation;
  const result = statuses.get(seq);
  if (result?.status !== 'done') return false;
  switch (action) {
    case 'create':
      return listed.has(entryKey(kind, result.entry?.remoteId ?? ''));
    case 'delete':
      return !listed.has(entryKey(kind, remoteId));
    default:
      return action satisfies never;
  }
}

async function settleCreates(
  context: ApplyContext,
  operations: readonly NumberedOperation[],
  {
    observed,
    isDue,
  }: { readonly observed: ObservedCatalog; readonly isDue: (operation: NumberedOperation) => boolean },
): Promise<void> {
  const isKnown = (key: EntryKey): boolean => context.known.has(key);
  const doubts = operations
    .filter(({ action, seq }) => action === 'create' && context.statuses.get(seq)?.status === 'unknown')
    .map((operation) => ({ ...operation, operation, isDue: isDue(operation), isKnown }));
  if (doubts.length === 0) return;
  for (const [{ operation }, entry] of findCreated(doubts, observed, context.request.settings.desired)) {
    const { attempts = 1, httpStatus = null } = context.statuses.get(operation.seq) ?? {};
    const reason = 'the answer was lost, but the list shows the entry';
    await confirmCreate(context, operation, entry, { attempts, httpStatus, reason });
  }
}

function notShown({ action, kind, name, ...operation }: NumberedOperation, result: OperationResult): Warning {
  const { entry, attempts } = result;
  const remoteId = entry?.remoteId ?? operation.remoteId;
  const isUnsent = action === 'delete' && attempts === 0;
  const shown = action === 'create' ? 'no list shows it yet' : 'the list still shows it';
  const message = isUnsent
    ? `the list did not show the ${kind} “${name}” right before its delete, so no delete was sent, but the list shows it again; the next run decides again`
    : `the service confirmed the ${action} of the ${kind} “${name}”, but ${shown}; the next run checks again`;
  return { code: NOT_SHOWN_YET, message, kind, name, ...(remoteId === undefined ? {} : { remoteId }) };
}

function unverified(failure: ServiceError | null): Warning {
  const message = `the changes could not be verified, and the next run checks again: ${failure?.message ?? 'the lists were not read'}`;
  return { code: 'unverified', message };
}

/** Warns of desired names that are missing at the end of the run, although the run did not fail to create them. */
function vanishedNames(
  context: ApplyContext,
  handled: ReadonlySet<string>,
  observed: ObservedCatalog,
): Warning[] {
  // An entry whose name the service changed is found by its id, as in the next plan.
  const history = runHistory(context, observed);
  // A created entry that no list has shown yet counts as listed, so a missing one was deleted or renamed by somebody.
  const made = new Set(
    context.operations
      .filter(({ seq }) => context.statuses.get(seq)?.status === 'done')
      .map(({ kind, name }) => kindNameKey(kind, name)),
  );
  return missingDesiredNames(context.request.settings.desired, observed, history)
    .filter(({ kind, name }) => {
      const key = kindNameKey(kind, name);
      return made.has(key) || !handled.has(key);
    })
    .map(({ kind, name }) => ({
      code: 'vanished',
      message: `the ${kind} “${name}” was listed or created during the run and is missing from the list at its end; the next run decides about it`,
      kind,
      name,
    }));
}

/** Warns of entries that others created during the run and that the file does not ask for. */
function appearedEntries(context: ApplyContext, observed: ObservedCatalog): Warning[] {
  const { desired, policy } = context.request.settings;
  const leaves = leaveRulesOf(policy);
  const created = createdEntries(context);
  return KINDS.filter((kind) => desired[kind] !== undefined).flatMap((kind) => {
    const before = new Set(context.planned[kind].map(({ id }) => id));
    const names = new Map<string, number>();
    for (const { name } of observed[kind]) names.set(nameKey(name), (names.get(nameKey(name)) ?? 0) + 1);
    const wanted = new Set(desired[kind]?.map(({ name }) => nameKey(name)));
    return observed[kind]
      .filter(({ id }) => !before.has(id) && !created.has(entryKey(kind, id)))
      .filter(({ name }) => !wanted.has(nameKey(name)) || (names.get(nameKey(name)) ?? 0) > 1)
      .filter((entry) => leaves(entry, false) === null)
      .map(({ id, name }) => ({
        code: 'appeared',
        message: `the ${kind} “${name}” (${id}) is listed now and was not listed when the run was planned: somebody created it, or the list was incomplete; the next run decides about it`,
        kind,
        name,
        remoteId: id,
      }));
  });
}
