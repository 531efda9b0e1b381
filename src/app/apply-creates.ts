// Carries out the creates of a plan: journaled before they are sent, never sent twice blindly (contract, section 5).
import { nameKey, nearKey } from '../core/names.ts';
import type { CreateOutcome } from '../core/write-outcome.ts';
import type { Entry, Kind } from '../core/catalog.ts';
import { KINDS } from '../core/catalog.ts';
import { ServiceError } from '../core/errors.ts';
import type { EntryKey } from '../core/usage.ts';
import { entryKey } from '../core/usage.ts';
import type { ApplyContext, NumberedOperation } from './apply-context.ts';
import {
  conclude,
  forEachOperation,
  halted,
  holdFrozen,
  noteFailure,
  skip,
  UNIDENTIFIED,
} from './apply-context.ts';
import { probeEmptyList } from './probe-empty-list.ts';
import { LOCK_LOST } from './run-result.ts';
import type { Doubt, Settlement } from './settle.ts';
import { settle } from './settle.ts';

interface DoubtfulCreate extends Doubt {
  readonly operation: NumberedOperation;
  readonly attempts: number;
  readonly httpStatus: number | null;
  readonly reason: string;
}

/** What can be said of a refused create besides what the service said. */
export type DuplicateHint = (operation: NumberedOperation) => string | null;

interface Sending {
  readonly context: ApplyContext;
  /** Ids that belong to no doubtful create: listed before, known to the journal, or confirmed in this run. */
  readonly seen: Set<EntryKey>;
  /** How often each create was sent, by `seq`. */
  readonly attempts: Map<number, number>;
  readonly nearDuplicate: DuplicateHint;
  /** Whether any create was answered with an entry. */
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
  const sending: Sending = { context, seen, attempts: new Map(), nearDuplicate, isAnswered: false };
  let pending = context.identified ? creates : await createFirstAlone(sending, creates);
  const alone = (operation: NumberedOperation): Promise<void> => createAlone(sending, operation);
  for (const kind of KINDS) pending = await probeEmptyList(context, kind, pending, alone);
  for (let round = 0; pending.length > 0 && !halted(context); round += 1) {
    pending = await sendRound(sending, pending, round);
  }
  skip(context, creates, context.halt?.message ?? 'it was not tried');
}

/**
 * Nothing listed says whose account this is, so creates go one by one until one is answered with its entry. One that may
 * have happened unanswered ends them: the id of its account was never seen. Returns what is left.
 */
async function createFirstAlone(
  sending: Sending,
  creates: readonly NumberedOperation[],
): Promise<readonly NumberedOperation[]> {
  const { context } = sending;
  for (const [index, operation] of creates.entries()) {
    await createAlone(sending, operation);
    const left = creates.slice(index + 1);
    if (sending.isAnswered || context.identified) return left;
    const status = context.statuses.get(operation.seq)?.status;
    // What was refused, or held before it was sent, tells nothing: the next one is as good.
    if (status !== 'failed' && status !== 'held') {
      skip(context, left, context.halt?.message ?? UNIDENTIFIED);
      return [];
    }
  }
  return [];
}

/** Sends one create until its outcome is found out. */
async function createAlone(sending: Sending, operation: NumberedOperation): Promise<void> {
  let pending: readonly NumberedOperation[] = [operation];
  for (let round = 0; pending.length > 0 && !halted(sending.context); round += 1) {
    pending = await sendRound(sending, pending, round);
  }
}

/** Sends each create once and finds out what is doubtful. Returns those that certainly did not happen. */
async function sendRound(
  sending: Sending,
  creates: readonly NumberedOperation[],
  round: number,
): Promise<readonly NumberedOperation[]> {
  const doubts: DoubtfulCreate[] = [];
  await forEachOperation(sending.context, creates, async (operation) => {
    const doubt = await createOne(sending, operation);
    if (doubt !== null) doubts.push(doubt);
  });
  return await resolve(sending, doubts, round);
}

/** Sends one create. Returns the doubt, if its outcome is one. */
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
  // While the row was committed another answer may have told that this is not the account that is meant.
  const mayStart = (): boolean => !halted(context) && context.frozen() === null;
  const outcome = await context.writer.create(kind, name, mayStart);
  const attempts = earlier + outcome.attempts;
  sending.attempts.set(seq, attempts);
  switch (outcome.type) {
    case 'created':
      sending.isAnswered = true;
      if (isAnother(sending, operation, outcome.entry)) {
        await checkOwner(context, outcome.entry);
        const reason = `the service answered with another entry that was there already, “${outcome.entry.name}”`;
        return doubtOf(sending, operation, { attempts, httpStatus: outcome.httpStatus, reason });
      }
      await confirm(sending, operation, outcome.entry, { attempts, httpStatus: outcome.httpStatus });
      return null;
    case 'failed':
      if (attempts === 0 && halted(context)) return null;
      noteFailure(context, outcome.error);
      // An earlier sending of the same create may be why the service refuses this one.
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
      return doubtOf(sending, operation, { ...outcome, attempts });
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
    attempts: outcome.attempts,
    httpStatus: outcome.httpStatus,
    reason: outcome.reason,
  };
}

/** Reads the lists for the doubtful creates; returns those that certainly did not happen and may be sent again. */
async function resolve(
  sending: Sending,
  doubts: readonly DoubtfulCreate[],
  round: number,
): Promise<NumberedOperation[]> {
  const { context } = sending;
  // Until the answer is found out it stands as `unknown`: that is what a crash or a halt would leave to be true.
  for (const { operation, attempts, httpStatus, reason } of doubts) {
    conclude(context, operation.seq, 'unknown', { attempts, httpStatus, reason });
  }
  if (halted(context)) return [];
  const settlements = await settleHere(context, doubts);
  const again: NumberedOperation[] = [];
  for (const settlement of settlements) {
    const { operation, attempts, httpStatus } = settlement.doubt;
    if (settlement.type === 'found') {
      const reason = 'its answer was lost; the list shows the entry';
      await confirm(sending, operation, settlement.entry, { attempts, httpStatus, reason });
    } else if (settlement.type === 'absent' && round < context.request.api.retries && !halted(context)) {
      // An entry of its name that was there all along was missing from the lists of the plan: the next run judges anew.
      if (settlement.twin === undefined) again.push(operation);
    }
  }
  return again;
}

/** What the lists tell of the doubts; nothing, and the run is halted, when one was of another account. */
async function settleHere(
  context: ApplyContext,
  doubts: readonly DoubtfulCreate[],
): Promise<Settlement<DoubtfulCreate>[]> {
  const { request, deps } = context;
  try {
    return await settle(doubts, context.reader, {
      settleMs: request.api.settleMs,
      isDesired: (kind, name) =>
        request.settings.desired[kind]?.some((entry) => nameKey(entry.name) === name) === true,
      clock: deps.clock,
      stop: request.signals.stop,
    });
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    noteFailure(context, error);
    return [];
  }
}

/** A create that happened: journals it, and checks whose account it happened in before anything else may be sent. */
async function confirm(
  { context, seen }: Sending,
  operation: NumberedOperation,
  entry: Entry,
  details: { attempts: number; httpStatus: number | null; reason?: string },
): Promise<void> {
  // A service that answers with an entry that was there created nothing, and nothing here may delete that entry.
  const existed = seen.has(entryKey(operation.kind, entry.id));
  seen.add(entryKey(operation.kind, entry.id));
  const isOwn = await checkOwner(context, entry);
  conclude(context, operation.seq, 'done', {
    ...details,
    reason: existed ? 'the service answered with an entry that was there already' : (details.reason ?? null),
    entry: {
      remoteId: entry.id,
      name: entry.name,
      existed,
      ...(isOwn || entry.accountId === undefined ? {} : { accountId: entry.accountId }),
    },
  });
}

/** Whether an answer is no entry of this create: a service may change a name, but not take another one's. */
function isAnother({ seen }: Sending, { kind, name }: NumberedOperation, entry: Entry): boolean {
  return seen.has(entryKey(kind, entry.id)) && nearKey(entry.name) !== nearKey(name);
}

/** Whether an answer is of the account that is meant, as far as it says; else the run is halted. */
async function checkOwner(context: ApplyContext, { accountId }: Entry): Promise<boolean> {
  if (accountId === undefined) return true;
  if (context.identified && accountId === context.remoteAccountId) return true;
  const wrong = await context.claimAccountId(accountId);
  if (wrong === null) {
    context.remoteAccountId = accountId;
    context.identified = true;
  } else context.halt ??= { code: 'identity_mismatch', message: wrong };
  return wrong === null;
}

function failureReason(
  operation: NumberedOperation,
  outcome: Extract<CreateOutcome, { type: 'failed' }>,
  nearDuplicate: DuplicateHint,
): string {
  const twin = outcome.error.httpStatus === 409 ? nearDuplicate(operation) : null;
  return twin === null ? outcome.error.message : `${outcome.error.message}; ${twin}`;
}

/** Every id that was there before: listed now, or ever known to the journal. */
async function knownEntries({
  planned,
  request,
  deps,
  remoteAccountId,
}: ApplyContext): Promise<Set<EntryKey>> {
  const listed = KINDS.flatMap((kind: Kind) => planned[kind].map((entry) => entryKey(kind, entry.id)));
  const known = await deps.journal.knownIds(request.settings.name, remoteAccountId, '~');
  return new Set([...listed, ...known]);
}
