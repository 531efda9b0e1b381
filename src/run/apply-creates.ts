// Applies the creates of a plan. A create is journaled before it is sent, and never sent again in the run once it may have
// happened: after the creates, the lists show what became of those whose answer was lost.
import type { Entry, Kind } from '../core/catalog.ts';
import { kindNameKey, NAME_REFUSALS } from '../core/history.ts';
import { nearKey } from '../core/names.ts';
import { entryKey, keysOf } from '../core/usage.ts';
import {
  type ApplyContext,
  conclude,
  confirmCreate,
  confirmOwner,
  createdEntries,
  forEachOperation,
  haltIfStopped,
  holdFrozen,
  markSent,
  noteFailure,
  type NumberedOperation,
  skip,
} from './apply-context.ts';
import { watchOperations } from './verify.ts';

/** After this many creates in doubt, the service is failing: the others wait for the next run. */
const MOST_IN_DOUBT = 10;

/** Every create ends as done, failed, unknown, held or skipped. */
export async function applyCreates(
  context: ApplyContext,
  creates: readonly NumberedOperation[],
): Promise<void> {
  if (creates.length === 0) return;
  const { deps, known, planned, remoteAccountId, request } = context;
  const journaled = await deps.journal.knownIds(request.settings.name, remoteAccountId, null);
  for (const key of [...keysOf(planned), ...journaled]) known.add(key);
  const send = (operation: NumberedOperation): Promise<void> => createOne(context, operation);
  await sendFirst(context, creates, send);
  const isOpen = ({ seq }: NumberedOperation): boolean => !context.statuses.has(seq);
  await forEachOperation(context, creates.filter(isOpen), send, () => context.counts.unknown < MOST_IN_DOUBT);
  const doubtful = creates.filter(({ seq }) => context.statuses.get(seq)?.status === 'unknown');
  const why = `the outcome of ${doubtful.length} creates was unknown when this one was due; the next run continues`;
  const reason = doubtful.length < MOST_IN_DOUBT ? 'it was not tried' : why;
  if (doubtful.length > 0 && context.halt === null) await watchCreates(context, doubtful);
  skip(context, creates, context.halt?.message ?? reason);
}

/**
 * Sends creates one by one while no list has shown an entry of their kind, or no list or answer an account id, until a list
 * shows one: an empty list may be wrong, and then each create makes a duplicate. When no list shows it, the others are
 * skipped, and a confirmed one halts the run (`suspicious_list`).
 */
async function sendFirst(
  context: ApplyContext,
  creates: readonly NumberedOperation[],
  send: (operation: NumberedOperation) => Promise<void>,
): Promise<void> {
  const shown = new Set<Kind>();
  for (const operation of creates) {
    const { kind, seq } = operation;
    const isKnown =
      (context.planned[kind].length > 0 || shown.has(kind)) && (context.identified || shown.size > 0);
    if (isKnown || context.statuses.has(seq) || haltIfStopped(context)) continue;
    const others = creates.filter(
      (each) =>
        each !== operation && !context.statuses.has(each.seq) && (each.kind === kind || !context.identified),
    );
    // The last one has no others to make duplicates of.
    if (others.length === 0) continue;
    await send(operation);
    const isSent = ['done', 'unknown'].includes(context.statuses.get(seq)?.status ?? '');
    if (!isSent || haltIfStopped(context)) continue;
    const { open, observed, failure } = await watchCreates(context, [operation]);
    const created = createdEntries(context);
    const isStrange =
      context.planned[kind].length === 0 &&
      observed?.[kind].some(({ id }) => !created.has(entryKey(kind, id))) === true;
    if (open.length === 0 && !isStrange) {
      shown.add(kind);
      continue;
    }
    const why = isStrange
      ? `the list of ${kind}s was empty when the run was planned, but shows other entries now`
      : `no list of ${kind}s shows the first entry that this run created`;
    const because = failure === null ? '' : ` (the last reading failed: ${failure.message})`;
    const message = `${why}${because}; nothing more was written, because more creates could make duplicates. Check the account, then run \`rolecall plan\` again`;
    const isConfirmed = context.statuses.get(seq)?.status === 'done';
    if (isStrange || isConfirmed) context.halt ??= { code: 'suspicious_list', message };
    skip(context, others, context.halt?.message ?? 'the outcome of the first create is unknown');
  }
}

/** Reads the lists of the kinds of these creates until they show them. */
async function watchCreates(
  context: ApplyContext,
  creates: readonly NumberedOperation[],
): ReturnType<typeof watchOperations> {
  const kinds = new Set(creates.map(({ kind }) => kind));
  const watched = await watchOperations(context, creates, {
    async read() {
      const lists = { ...context.planned };
      for (const kind of kinds) lists[kind] = (await context.reader.listEntries(kind)).items;
      return lists;
    },
  });
  if (watched.failure !== null) noteFailure(context, watched.failure);
  return watched;
}

/** Sends one create, and journals it as unknown when only a list can show whether it happened. */
async function createOne(context: ApplyContext, operation: NumberedOperation): Promise<void> {
  const { kind, name, seq } = operation;
  const window = context.frozen();
  if (window !== null) return holdFrozen(context, seq, window, 0);
  if (context.appeared.has(kindNameKey(kind, name))) {
    return conclude(context, seq, 'skipped', {
      reason: 'a list that was read during the run shows it already',
    });
  }
  const mayStart = async (): Promise<boolean> =>
    (await markSent(context, operation)) && context.frozen() === null;
  const outcome = await context.writer.create(kind, name, mayStart);
  const { attempts } = outcome;
  switch (outcome.type) {
    case 'created': {
      const { entry, httpStatus } = outcome;
      if (!isOlder(context, operation, entry)) {
        return await confirmCreate(context, operation, entry, { attempts, httpStatus });
      }
      await confirmOwner(context, entry);
      const reason = `the service answered with another entry that already existed, “${entry.name}”`;
      return conclude(context, seq, 'unknown', { attempts, httpStatus, reason });
    }
    case 'doubtful': {
      const { httpStatus, reason } = outcome;
      return conclude(context, seq, 'unknown', { attempts, httpStatus, reason });
    }
    case 'failed': {
      if (attempts === 0 && haltIfStopped(context)) return;
      const { message, httpStatus } = outcome.error;
      noteFailure(context, outcome.error);
      return conclude(context, seq, attempts === 0 ? 'skipped' : 'failed', {
        attempts,
        httpStatus: httpStatus ?? null,
        reason: message + nearDuplicateHint(context, operation, httpStatus),
      });
    }
    case 'outdated': {
      const opened = context.frozen();
      const { message: reason = null, httpStatus = null } = outcome.error ?? {};
      if (attempts === 0 && context.halt !== null) return;
      if (opened !== null) holdFrozen(context, seq, opened, attempts);
      else if (attempts > 0) conclude(context, seq, 'failed', { attempts, httpStatus, reason });
      return;
    }
    default:
      return outcome satisfies never;
  }
}

/** Whether the answer contains an older entry with an unrelated name. A service may change the name of a new entry. */
function isOlder({ known }: ApplyContext, { kind, name }: NumberedOperation, entry: Entry): boolean {
  return known.has(entryKey(kind, entry.id)) && nearKey(entry.name) !== nearKey(name);
}

/** Explains a failed create by an entry with a near name: it was deleted first, or the service may refuse the create. */
function nearDuplicateHint(
  { planned, operations, statuses }: ApplyContext,
  { kind, name }: NumberedOperation,
  httpStatus: number | undefined,
): string {
  const isNear = (each: { readonly name: string }): boolean => nearKey(each.name) === nearKey(name);
  const gone = operations.find(
    (each) =>
      each.action === 'delete' &&
      each.kind === kind &&
      isNear(each) &&
      statuses.get(each.seq)?.status === 'done',
  );
  if (gone !== undefined) return `; “${gone.name}” was deleted first; the next run creates “${name}” again`;
  const near = NAME_REFUSALS.includes(httpStatus ?? 0) ? planned[kind].find(isNear) : undefined;
  if (near === undefined) return '';
  return `; “${near.name}” exists: if the file has both names, remove one; otherwise the next plan deletes it first, or shows what keeps it`;
}
