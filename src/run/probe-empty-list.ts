// The creates that are sent alone before the others. An empty list may be wrong, and then each create would make a
// duplicate: the others follow when a list shows the first entry. Without a listed account id, an answer confirms the account.
import type { Entry, Kind } from '../core/catalog.ts';
import { ServiceError } from '../core/errors.ts';
import {
  type ApplyContext,
  deletedWithStatus,
  haltIfStopped,
  noteFailure,
  type NumberedOperation,
  skip,
  UNIDENTIFIED,
} from './apply-context.ts';
import { watchLists } from './lists.ts';
import { entryKey } from '../core/usage.ts';

/**
 * Sends the first of several creates of a kind whose list was empty with `createAlone`. Halts the run
 * (`suspicious_list`) when no list shows exactly that entry within `settle`. Returns the creates that remain.
 */
export async function probeEmptyList(
  context: ApplyContext,
  kind: Kind,
  creates: readonly NumberedOperation[],
  createAlone: (operation: NumberedOperation) => Promise<void>,
): Promise<readonly NumberedOperation[]> {
  if (context.planned[kind].length > 0) return creates;
  const isProven = (): boolean => createdIds(context, kind).length > 0;
  let left: readonly NumberedOperation[] = creates.filter((operation) => operation.kind === kind);
  if (!isProven()) {
    const why = 'the outcome of an earlier create into an empty list is unknown';
    left = await sendUntil(isProven, context, left, { createAlone, why });
  }
  const created = createdIds(context, kind);
  if (created.length > 0 && left.length > 0 && !haltIfStopped(context))
    await awaitList(context, kind, created);
  const open = new Set(left);
  return creates.filter((operation) => operation.kind !== kind || open.has(operation));
}

/**
 * Sends creates one by one until one of them proves what `isProven` asks. Skips the rest (`why`) when the outcome of one is
 * unknown. Returns the remaining creates.
 */
async function sendUntil(
  isProven: () => boolean,
  context: ApplyContext,
  creates: readonly NumberedOperation[],
  {
    createAlone,
    why,
  }: { createAlone: (operation: NumberedOperation) => Promise<void>; readonly why: string },
): Promise<readonly NumberedOperation[]> {
  for (const [index, operation] of creates.entries()) {
    const left = creates.slice(index + 1);
    // The last one has no others to make duplicates of.
    if (left.length === 0 || haltIfStopped(context)) return creates.slice(index);
    await createAlone(operation);
    if (isProven()) return left;
    const status = context.statuses.get(operation.seq)?.status;
    // A create that was refused, or held before it was sent, proves nothing: try the next one.
    if (status === 'failed' || status === 'held') continue;
    skip(context, left, context.halt?.message ?? why);
    break;
  }
  return [];
}

/** The ids of the entries of a kind that this run created. */
function createdIds({ operations, statuses }: ApplyContext, kind: Kind): string[] {
  return operations.flatMap((operation) => {
    const result = operation.kind === kind ? statuses.get(operation.seq) : undefined;
    return result?.status === 'done' && result.entry !== undefined ? [result.entry.remoteId] : [];
  });
}

/** Reads the list of a kind until it shows what this run created. Halts the run when `settle` has passed. */
async function awaitList(context: ApplyContext, kind: Kind, created: readonly string[]): Promise<void> {
  const { deps, request, reader } = context;
  const { clock } = deps;
  const dueMs = clock.steadyMs() + request.api.settleMs;
  await watchLists({ clock, stop: request.signals.stop }, async (readAtMs) => {
    let failure = '';
    try {
      const listed = new Set((await reader.listEntries(kind)).items.map(({ id }) => id));
      if ([...listed].some((id) => !created.includes(id))) {
        halt(context, `the list of ${kind}s was empty when the run was planned, but shows other entries now`);
        return null;
      }
      if (created.every((id) => listed.has(id))) return null;
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      noteFailure(context, error);
      failure = ` (the last reading failed: ${error.message})`;
    }
    if (haltIfStopped(context)) return null;
    if (readAtMs >= dueMs) {
      const why = 'was empty, and it does not show the entry that this run created';
      halt(context, `the list of ${kind}s ${why}${failure}`);
      return null;
    }
    const forMs = Math.max(0, dueMs - clock.steadyMs());
    request.progress?.({ type: 'probe', kind, forMs });
    return forMs;
  });
}

function halt(context: ApplyContext, why: string): void {
  const message = `${why}; nothing more was written, because more creates could make duplicates. Check the account, then run \`rolecall plan\` again`;
  context.halt = { code: 'suspicious_list', message };
}

/** Whether a list shows what the lists of the plan showed and what this run created, except for what it deleted. */
export function isComplete(context: ApplyContext, kind: Kind, list: readonly Entry[]): boolean {
  const listed = new Set(list.map(({ id }) => id));
  const gone = deletedWithStatus(context, ['done', 'unknown']);
  const created = context.operations.flatMap(({ seq, ...operation }) => {
    const entry = operation.kind === kind ? context.statuses.get(seq)?.entry : undefined;
    return entry === undefined ? [] : [entry.remoteId];
  });
  return [...context.planned[kind].map(({ id }) => id), ...created].every(
    (id) => listed.has(id) || gone.has(entryKey(kind, id)),
  );
}

/**
 * In an account that is not confirmed, sends creates one by one with `createAlone` until `isAnswered` with an entry. A
 * create whose answer was lost stops the rest, since its account is unknown. Returns the remaining creates.
 */
export async function confirmAccount(
  context: ApplyContext,
  creates: readonly NumberedOperation[],
  createAlone: (operation: NumberedOperation) => Promise<void>,
  isAnswered: () => boolean,
): Promise<readonly NumberedOperation[]> {
  if (context.identified) return creates;
  const isProven = (): boolean => isAnswered() || context.identified;
  return await sendUntil(isProven, context, creates, { createAlone, why: UNIDENTIFIED });
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
