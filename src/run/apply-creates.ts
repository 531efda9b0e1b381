// Applies the creates of a plan. A create is journaled before it is sent, and sent again only if it certainly failed.
import { nearKey } from '../core/names.ts';
import type { CreateOutcome } from '../core/write-outcome.ts';
import { type Entry, KINDS } from '../core/catalog.ts';
import { ServiceError } from '../core/errors.ts';
import { kindNameKey } from '../core/history.ts';
import { type EntryKey, entryKey } from '../core/usage.ts';
import {
  type ApplyContext,
  conclude,
  createOperationQueue,
  halted,
  holdFrozen,
  knownEntries,
  noteFailure,
  type NumberedOperation,
  skip,
} from './apply-context.ts';
import type { DuplicateHint } from './near-duplicate.ts';
import { checkOwner, confirmAccount, isComplete, probeEmptyList } from './probe-empty-list.ts';
import { LOCK_LOST } from './run-result.ts';
import { type Doubt, settle, type SettleOptions } from './settle.ts';

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
  /** The attempts of each create, by `seq`. */
  readonly attempts: Map<number, number>;
  /** How often each doubtful create was sent again, by `seq`. */
  readonly resent: Map<number, number>;
  /** The creates whose outcome is unknown, by `seq`. */
  readonly inDoubt: Set<number>;
  /** The creates that are being sent. */
  readonly inFlight: Set<Promise<unknown>>;
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
    attempts: new Map(),
    resent: new Map(),
    inDoubt: new Set(),
    inFlight: new Set(),
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
 * Sends creates until their outcomes are known. The lists settle the doubtful ones while others proceed, and those that
 * certainly did not happen are sent again.
 */
async function sendAll(sending: Sending, creates: readonly NumberedOperation[]): Promise<void> {
  const { context } = sending;
  const doubts = new Set<DoubtfulCreate>();
  let isSettling = false;
  /** Reports the wait when nothing else is left to do. */
  function reportWait(): void {
    if (doubts.size === 0 || sending.inFlight.size > 0 || queue.hasWaiting()) return;
    const { api, progress } = context.request;
    // The one that was added last is due last.
    const sinceMs = [...doubts].at(-1)?.sinceMs ?? 0;
    const forMs = Math.max(0, sinceMs + api.settleMs - context.deps.clock.steadyMs());
    progress?.({ type: 'settle', action: 'create', operations: doubts.size, forMs });
  }
  async function settleAll(): Promise<void> {
    isSettling = true;
    while (doubts.size > 0 && !halted(context)) {
      // Not behind the creates that wait until fewer are in doubt.
      const again = (create: NumberedOperation): void => queue.run(() => send(create));
      const onSettled = (): void => queue.add([]);
      await settleDoubts(sending, doubts, { again, onSettled, onWait: reportWait, halted: queue.halted });
    }
    isSettling = false;
  }
  async function send(operation: NumberedOperation): Promise<void> {
    const sent = createOne(sending, operation);
    sending.inFlight.add(sent);
    const doubt = await sent.finally(() => sending.inFlight.delete(sent));
    if (doubt !== null) {
      const { attempts, httpStatus, reason } = doubt;
      // The journal shows `unknown` until the outcome is known, so that it is correct after a crash or a halt.
      conclude(context, operation.seq, 'unknown', { attempts, httpStatus, reason });
      doubts.add(doubt);
      sending.inDoubt.add(operation.seq);
      if (!isSettling) queue.run(settleAll);
    } else {
      sending.inDoubt.delete(operation.seq);
      queue.add([]);
    }
    reportWait();
  }
  const queue = createOperationQueue(context, send, () => sending.inDoubt.size < MOST_IN_DOUBT);
  queue.add(creates);
  await queue.idle();
}

/** Sends one create. Returns a doubt when it is unknown whether the create happened. */
async function createOne(sending: Sending, operation: NumberedOperation): Promise<DoubtfulCreate | null> {
  const { context } = sending;
  const { kind, name, seq } = operation;
  const { clock } = context.deps;
  const earlier = sending.attempts.get(seq) ?? 0;
  const window = context.frozen();
  if (window !== null) {
    holdFrozen(context, seq, window, earlier);
    return null;
  }
  if ((await context.log.sent(seq, clock.nowMs())) === 'lock_lost') {
    context.halt ??= LOCK_LOST;
    return null;
  }
  // While the row was committed, another answer may have shown that this is the wrong account.
  const mayStart = (): boolean => !halted(context) && context.frozen() === null;
  const outcome = await context.writer.create(kind, name, mayStart, earlier > 0);
  const attempts = earlier + outcome.attempts;
  sending.attempts.set(seq, attempts);
  switch (outcome.type) {
    case 'created':
      sending.isAnswered = true;
      if (isAnother(sending, operation, outcome.entry)) {
        await checkOwner(context, outcome.entry);
        const reason = `the service answered with another entry that already existed, “${outcome.entry.name}”`;
        return doubtOf(sending, operation, { attempts, httpStatus: outcome.httpStatus, reason });
      }
      await confirm(sending, operation, outcome.entry, { attempts, httpStatus: outcome.httpStatus });
      return null;
    case 'failed':
      if (attempts === 0 && halted(context)) return null;
      noteFailure(context, outcome.error);
      // The service may refuse this attempt because an earlier attempt of the same create succeeded.
      if (attempts > outcome.attempts && outcome.error.httpStatus === 409) {
        return doubtOf(sending, operation, { attempts, httpStatus: 409, reason: outcome.error.message });
      }
      conclude(context, seq, attempts === 0 ? 'skipped' : 'failed', {
        attempts,
        httpStatus: outcome.error.httpStatus ?? null,
        reason: failureReason(operation, outcome, sending.nearDuplicate),
      });
      return null;
    case 'outdated': {
      const opened = context.frozen();
      const { message: reason, httpStatus = null } = outcome.error ?? {};
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
    kind: operation.kind,
    name: operation.name,
    sinceMs: context.deps.clock.steadyMs(),
    isKnown: (key) => seen.has(key),
    ...outcome,
  };
}

/**
 * Reads the lists until the doubtful creates are settled. Those that certainly did not happen are sent again, at most
 * `retries` times. Halts the run when a list belongs to another account.
 */
async function settleDoubts(
  sending: Sending,
  doubts: Set<DoubtfulCreate>,
  by: Required<Pick<SettleOptions, 'halted' | 'onWait'>> & {
    again: (create: NumberedOperation) => void;
    onSettled: () => void;
  },
): Promise<void> {
  const { context } = sending;
  const { api, settings, signals } = context.request;
  const settlements = settle(doubts, context.reader, {
    settleMs: api.settleMs,
    recheckMs: api.recheckMs,
    desired: settings.desired,
    clock: context.deps.clock,
    stop: signals.stop,
    isStopped: () => halted(context),
    answered: () => Promise.allSettled(sending.inFlight),
    isComplete: (kind, list) => isComplete(context, kind, list),
    onWait: by.onWait,
    halted: by.halted,
  });
  try {
    for await (const settlement of settlements) {
      const { operation, attempts, httpStatus } = settlement.doubt;
      if (settlement.type === 'found') {
        const reason = 'the answer was lost, but the list shows the entry';
        await confirm(sending, operation, settlement.entry, { attempts, httpStatus, reason });
        by.onSettled();
        continue;
      }
      const { candidate } = settlement;
      if (candidate !== undefined) {
        const reason = `the answer was lost, and the ${operation.kind} “${candidate.name}” (${candidate.id}) may be its result; the next run decides`;
        conclude(context, operation.seq, 'unknown', { attempts, httpStatus, reason });
        continue;
      }
      const resent = sending.resent.get(operation.seq) ?? 0;
      // An earlier run sent it too, so one more create is enough to find out whether it has an effect.
      const isRepeated = context.history.doubtfulCreates.has(kindNameKey(operation.kind, operation.name));
      if (isRepeated || resent >= api.retries) continue;
      sending.resent.set(operation.seq, resent + 1);
      by.again(operation);
    }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    noteFailure(context, error);
  }
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
  const isOwn = await checkOwner(context, entry);
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

function failureReason(
  operation: NumberedOperation,
  outcome: Extract<CreateOutcome, { type: 'failed' }>,
  nearDuplicate: DuplicateHint,
): string {
  const hint = outcome.error.httpStatus === 409 ? nearDuplicate(operation) : null;
  return hint === null ? outcome.error.message : `${outcome.error.message}; ${hint}`;
}
