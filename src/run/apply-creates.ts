// Applies the creates of a plan. A create is journaled before it is sent, and sent again only if it certainly failed.
import { nearKey } from '../core/names.ts';
import { type Entry, KINDS } from '../core/catalog.ts';
import { ServiceError } from '../core/errors.ts';
import { kindNameKey } from '../core/history.ts';
import { type EntryKey, entryKey } from '../core/usage.ts';
import {
  type ApplyContext,
  conclude,
  forEachOperation,
  haltIfStopped,
  holdFrozen,
  knownEntries,
  markSent,
  noteFailure,
  type NumberedOperation,
  skip,
} from './apply-context.ts';
import { confirmOwner, confirmAccount, isComplete, probeEmptyList } from './probe-empty-list.ts';
import { type Doubt, readKinds, settle, type Settlement, type SettleOptions } from './doubtful-operations.ts';

/** What an entry with a near name adds to the reason of a create that failed with this status, or ''. */
export type DuplicateHint = (create: NumberedOperation, httpStatus: number | undefined) => string;

/** While this many creates of a run are in doubt, no other create is sent: the lists may not show any of them. */
const MOST_IN_DOUBT = 3;

interface DoubtfulCreate extends Doubt {
  readonly operation: NumberedOperation;
  readonly attempts: number;
  readonly httpStatus: number | null;
  readonly reason: string;
}

interface Sending {
  readonly context: ApplyContext;
  /** Ids that no doubtful create can have made: listed before, known to the journal, or confirmed in this run. */
  readonly seen: Set<EntryKey>;
  /** How often each doubtful create was sent again, by `seq`. */
  readonly resent: Map<number, number>;
  /** The creates whose outcome is unknown, by `seq`. */
  readonly inDoubt: Set<number>;
  readonly nearDuplicate: DuplicateHint;
  /** Whether the service answered any create with an entry. */
  isAnswered: boolean;
}

/** Every create ends as done, failed, unknown or skipped. */
export async function applyCreates(
  context: ApplyContext,
  creates: readonly NumberedOperation[],
  nearDuplicate: DuplicateHint,
): Promise<void> {
  if (creates.length === 0) return;
  const seen = await knownEntries(context);
  const sending: Sending = {
    context,
    seen,
    resent: new Map(),
    inDoubt: new Set(),
    nearDuplicate,
    isAnswered: false,
  };
  const alone = (operation: NumberedOperation): Promise<void> => sendAll(sending, [operation]);
  let pending = await confirmAccount(context, creates, alone, () => sending.isAnswered);
  for (const kind of KINDS) pending = await probeEmptyList(context, kind, pending, alone);
  await sendAll(sending, pending);
  const { size } = sending.inDoubt;
  const waits = `the outcome of ${size} creates of this run is unknown; the next run continues`;
  const reason = size < MOST_IN_DOUBT ? 'it was not tried' : waits;
  skip(context, creates, context.halt?.message ?? reason);
}

/**
 * Sends creates in rounds. The lists settle the doubtful ones of a round; those that certainly did not happen are sent again
 * in the next one, before the others.
 */
async function sendAll(sending: Sending, creates: readonly NumberedOperation[]): Promise<void> {
  const { context, inDoubt } = sending;
  let again: readonly NumberedOperation[] = [];
  let others = creates;
  for (;;) {
    const doubts: DoubtfulCreate[] = [];
    const send = async (operation: NumberedOperation): Promise<void> => {
      const doubt = await createOne(sending, operation);
      if (doubt === null) {
        inDoubt.delete(operation.seq);
        return;
      }
      const { attempts, httpStatus, reason } = doubt;
      // The journal shows `unknown` until the outcome is known, so that it is correct after a crash or a halt.
      conclude(context, operation.seq, 'unknown', { attempts, httpStatus, reason });
      inDoubt.add(operation.seq);
      doubts.push(doubt);
    };
    await forEachOperation(context, again, send);
    await forEachOperation(context, others, send, () => inDoubt.size < MOST_IN_DOUBT);
    if (doubts.length === 0) return;
    again = await settleDoubts(sending, doubts);
    others = others.filter(({ seq }) => !context.statuses.has(seq));
  }
}

/** Sends one create. Returns a doubt when it is unknown whether the create happened. */
async function createOne(sending: Sending, operation: NumberedOperation): Promise<DoubtfulCreate | null> {
  const { context } = sending;
  const { kind, name, seq } = operation;
  const earlier = context.statuses.get(seq)?.attempts ?? 0;
  const window = context.frozen();
  if (window !== null) {
    holdFrozen(context, seq, window, earlier);
    return null;
  }
  const mayStart = async (): Promise<boolean> =>
    (await markSent(context, operation)) && context.frozen() === null;
  const outcome = await context.writer.create(kind, name, mayStart, earlier > 0);
  const attempts = earlier + outcome.attempts;
  switch (outcome.type) {
    case 'created':
      sending.isAnswered = true;
      if (isAnother(sending, operation, outcome.entry)) {
        await confirmOwner(context, outcome.entry);
        const reason = `the service answered with another entry that already existed, “${outcome.entry.name}”`;
        return doubtOf(sending, operation, { attempts, httpStatus: outcome.httpStatus, reason });
      }
      await confirm(sending, operation, outcome.entry, { attempts, httpStatus: outcome.httpStatus });
      return null;
    case 'failed':
      if (attempts === 0 && haltIfStopped(context)) return null;
      noteFailure(context, outcome.error);
      // The service may refuse this attempt because an earlier attempt of the same create succeeded.
      if (attempts > outcome.attempts && outcome.error.httpStatus === 409) {
        return doubtOf(sending, operation, { attempts, httpStatus: 409, reason: outcome.error.message });
      }
      conclude(context, seq, attempts === 0 ? 'skipped' : 'failed', {
        attempts,
        httpStatus: outcome.error.httpStatus ?? null,
        reason: outcome.error.message + sending.nearDuplicate(operation, outcome.error.httpStatus),
      });
      return null;
    case 'outdated': {
      const opened = context.frozen();
      const { message: reason, httpStatus = null } = outcome.error ?? {};
      // An earlier attempt that is in doubt stays so, and the next run settles it.
      if (outcome.attempts === 0 && context.halt !== null) return null;
      if (opened !== null) holdFrozen(context, seq, opened, attempts);
      else if (attempts > 0)
        conclude(context, seq, 'failed', { attempts, httpStatus, reason: reason ?? null });
      return null;
    }
    case 'doubtful':
      return doubtOf(sending, operation, {
        attempts,
        httpStatus: outcome.httpStatus,
        reason: outcome.reason,
      });
    default:
      return outcome satisfies never;
  }
}

function doubtOf(
  { context, seen }: Sending,
  operation: NumberedOperation,
  outcome: { attempts: number; httpStatus: number | null; reason: string },
): DoubtfulCreate {
  return {
    operation,
    action: 'create',
    kind: operation.kind,
    name: operation.name,
    sinceMs: context.deps.clock.steadyMs(),
    isKnown: (key) => seen.has(key),
    ...outcome,
  };
}

/**
 * Reads the lists until the doubtful creates are settled. Returns those that certainly did not happen and may be sent again.
 * Halts the run when a list belongs to another account.
 */
async function settleDoubts(
  sending: Sending,
  doubts: readonly DoubtfulCreate[],
): Promise<readonly NumberedOperation[]> {
  const { context } = sending;
  const { request, reader, history } = context;
  const again: NumberedOperation[] = [];
  const isStopped = (): boolean => haltIfStopped(context);
  async function conclusion({ doubt, hasHappened, entry }: Settlement<DoubtfulCreate>): Promise<void> {
    const { operation, attempts, httpStatus } = doubt;
    const { kind, name, seq } = operation;
    if (hasHappened && entry !== undefined) {
      const reason = 'the answer was lost, but the list shows the entry';
      await confirm(sending, operation, entry, { attempts, httpStatus, reason });
      return;
    }
    if (entry !== undefined) {
      const reason = `the answer was lost, and the ${kind} “${entry.name}” (${entry.id}) may be its result; the next run decides`;
      conclude(context, seq, 'unknown', { attempts, httpStatus, reason });
      return;
    }
    const resent = sending.resent.get(seq) ?? 0;
    // An earlier run sent it too, so one more create is enough to find out whether it has an effect.
    const isRepeated = history.doubtfulCreates.has(kindNameKey(kind, name));
    if (isRepeated || resent >= request.api.retries) return;
    sending.resent.set(seq, resent + 1);
    again.push(operation);
  }
  const options: SettleOptions = {
    request,
    clock: context.deps.clock,
    read: (kinds) => readKinds(reader, kinds, () => !isStopped()),
    isStopped,
    isComplete: (kind, list) => isComplete(context, kind, list),
    onWait: (wait) => request.progress?.({ type: 'settle', action: 'create', ...wait }),
  };
  await settle(doubts, options, conclusion).catch((error: unknown) => {
    if (!(error instanceof ServiceError)) throw error;
    noteFailure(context, error);
  });
  return again;
}

/** Journals a create that happened, and checks its account id before anything else may be sent. */
async function confirm(
  { context, seen, inDoubt }: Sending,
  operation: NumberedOperation,
  entry: Entry,
  details: { attempts: number; httpStatus: number | null; reason?: string },
): Promise<void> {
  // A service that answers with an older entry created nothing, so rolecall must not own that entry.
  const existed = seen.has(entryKey(operation.kind, entry.id));
  seen.add(entryKey(operation.kind, entry.id));
  inDoubt.delete(operation.seq);
  const isOwn = await confirmOwner(context, entry);
  conclude(context, operation.seq, 'done', {
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

/** Whether the answer contains an older entry with an unrelated name. A service may change the name of a new entry. */
function isAnother({ seen }: Sending, { kind, name }: NumberedOperation, entry: Entry): boolean {
  return seen.has(entryKey(kind, entry.id)) && nearKey(entry.name) !== nearKey(name);
}
