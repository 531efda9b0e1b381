// Applies the deletes of a plan. Right before the first delete, and every 60 seconds while deleting, it reads the lists
// again: an entry that is gone counts as deleted, one that was renamed or assigned meanwhile is held. At these moments the
// account's file and its pause are read again, too.
import { KINDS, type ObservedCatalog } from '../core/catalog.ts';
import { ServiceError } from '../core/errors.ts';
import { anythingMissing, baselineOf, suspiciousList } from '../core/list-plausibility.ts';
import {
  type ApplyContext,
  conclude,
  deletedWithStatus,
  forEachOperation,
  haltIfChanged,
  haltIfStopped,
  holdFrozen,
  markSent,
  noteAppeared,
  noteFailure,
  type NumberedOperation,
  skip,
  UNIDENTIFIED,
  createdEntries,
  runHistory,
} from './apply-context.ts';
import { growOld } from './changes-during-run.ts';
import { readLists, readTwiceIfNeeded } from './lists.ts';
import { isOpen, linesFor } from '../core/allowed-deletes.ts';
import type { Findings } from '../core/rule-facts.ts';
import { kindNameKey } from '../core/history.ts';
import { type EntryKey, entryKey } from '../core/usage.ts';
import { findingsOf, recheckDelete, type RecheckResult } from '../core/recheck.ts';

interface Reading extends FindingsNow {
  readonly observed: ObservedCatalog;
  /** Whether a minute has passed since the reading started. */
  readonly isOld: () => boolean;
}

/** Every delete ends as done, failed, unknown, held or skipped. */
export async function applyDeletes(
  context: ApplyContext,
  deletes: readonly NumberedOperation[],
): Promise<void> {
  if (!context.identified && context.remoteAccountId !== null) {
    skip(context, deletes, UNIDENTIFIED);
    return;
  }
  const readings = createReadings(context);
  await forEachOperation(context, deletes, (operation) => deleteOne(context, operation, readings.current));
  skip(context, deletes, context.halt?.message ?? context.deletesStopped ?? readings.problem());
}

interface Readings {
  /** The lists, read again when they are older than a minute. Null when they cannot be read or are implausible. */
  readonly current: () => Promise<Reading | null>;
  readonly problem: () => string;
}

function createReadings(context: ApplyContext): Readings {
  let latest: Promise<Reading | null> = Promise.resolve(null);
  let isOld = (): boolean => true;
  let problem = 'it was not tried';
  async function readAgain(): Promise<Reading | null> {
    const reading = await read(context, (why) => {
      problem = why;
    });
    // After the lists, which may take long to read.
    const isHalted = await haltIfChanged(context, true);
    const isSlow = reading?.isOld() === true;
    if (!isHalted && !isSlow) return reading;
    problem = 'reading the lists took more than a minute; nothing is deleted based on lists that old';
    // The lists are not read again.
    isOld = () => false;
    return null;
  }
  return {
    current() {
      if (isOld()) {
        isOld = growOld(context.deps.clock);
        latest = readAgain();
      }
      return latest;
    },
    problem: () => problem,
  };
}

async function read(context: ApplyContext, onProblem: (why: string) => void): Promise<Reading | null> {
  const isOld = growOld(context.deps.clock);
  try {
    const observed = await readForDeletes(context);
    if (observed !== null) noteAppeared(context, observed);
    if (observed !== null) return { ...findingsNow(context, observed), observed, isOld };
    onProblem(
      'two readings in a row lost or renamed more than a quarter of the entries since the run started, or lack entries that people have; nothing is deleted. Run `rolecall plan` and check the lists',
    );
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    noteFailure(context, error);
    onProblem(`the lists could not be read again before deleting, so nothing is deleted: ${error.message}`);
  }
  return null;
}

/** Reads the lists, and a second time when entries are missing. Null when they are implausible. */
async function readForDeletes(context: ApplyContext): Promise<ObservedCatalog | null> {
  const { reader, request, deps, planned } = context;
  const managed = KINDS.filter((kind) => request.settings.desired[kind] !== undefined);
  const deleted = deletedWithStatus(context, ['done', 'unknown']);
  const expected = baselineOf(planned, deletedWithStatus(context, ['done']));
  const first = await readLists(reader, request.progress, 'delete');
  const { observed, implausible, hasShrunk } = await readTwiceIfNeeded(
    { reader, request, clock: deps.clock },
    first,
    {
      baseline: baselineOf(planned, deleted),
      managed,
      deleted,
      lacksSomething: anythingMissing(expected, first, managed),
    },
    'delete',
  );
  // Lists that were accepted when the run was planned are accepted here too.
  const wasAccepted = suspiciousList(planned, managed, new Set()) !== null;
  return implausible === null || (wasAccepted && !hasShrunk) ? observed : null;
}

/** Deletes one entry. Reads the lists and checks the delete again whenever the lists are too old. */
async function deleteOne(
  context: ApplyContext,
  operation: NumberedOperation,
  current: Readings['current'],
): Promise<void> {
  const { kind, seq, remoteId = '' } = operation;
  let attempts = 0;
  let maybeDone = false;
  let last: ServiceError | null = null;
  while (attempts <= context.request.api.retries) {
    const window = context.frozen();
    if (window !== null) {
      if (maybeDone) break;
      return holdFrozen(context, seq, window, attempts);
    }
    const reading = await current();
    if (reading === null) break;
    const recheck = recheckNow(context, operation, reading);
    if (recheck !== null) return conclude(context, seq, recheck.status, { ...recheck, attempts });
    if (haltIfStopped(context) || context.deletesStopped !== null) break;
    const mayStart = async (): Promise<boolean> =>
      (await markSent(context, operation)) && !reading.isOld() && context.frozen() === null;
    const outcome = await context.writer.delete(kind, remoteId, mayStart);
    attempts += outcome.attempts;
    if (outcome.type === 'deleted') {
      return conclude(context, seq, 'done', { attempts, httpStatus: outcome.httpStatus });
    }
    maybeDone ||= outcome.maybeDone;
    last = outcome.error ?? last;
    if (outcome.type === 'failed') break;
  }
  if (last === null) return;
  noteFailure(context, last);
  // Whatever the answer was, a list decides at the end whether the entry is gone.
  const status = attempts === 0 ? 'skipped' : maybeDone ? 'unknown' : 'failed';
  conclude(context, seq, status, { attempts, httpStatus: last.httpStatus ?? null, reason: last.message });
}

/** What the lists show now, with what the run has done so far. No create is sent while deletes are. */
export interface FindingsNow extends Findings {
  /** The requested name of each entry that the service returned as the answer to a create of this run. */
  readonly answeredFor: ReadonlyMap<EntryKey, string>;
  readonly pendingCreates: ReadonlySet<string>;
}

/** Compares the lists with the file again, including the entries that this run has created. */
export function findingsNow(context: ApplyContext, observed: ObservedCatalog): FindingsNow {
  const { operations, statuses, request } = context;
  const pending = operations.filter(({ action, seq }) => action === 'create' && !statuses.has(seq));
  return {
    ...findingsOf(request.settings.desired, observed, {
      history: runHistory(context, observed),
      planned: baselineOf(context.planned, deletedWithStatus(context, ['done', 'unknown'])),
    }),
    answeredFor: createdEntries(context),
    pendingCreates: new Set(pending.map(({ kind, name }) => kindNameKey(kind, name))),
  };
}

/** Checks one delete right before it is sent. Null allows it. */
export function recheckNow(
  context: ApplyContext,
  operation: NumberedOperation,
  findings: FindingsNow,
): RecheckResult | null {
  const { kind, remoteId = '' } = operation;
  return recheckDelete(operation, findings, {
    policy: context.request.settings.policy,
    answeredFor: findings.answeredFor.get(entryKey(kind, remoteId)),
    wasUsedBefore: wasUsedBefore(context, entryKey(kind, remoteId)),
    hasExpired: hasExpired(context, operation),
    pendingCreates: findings.pendingCreates,
  });
}

/** Whether the entry counted as used when the plan was made, by an earlier list or by people who are missing. */
function wasUsedBefore({ history, request, plannedAtMs }: ApplyContext, key: EntryKey): boolean {
  const lastMs = history.missingUse.has(key) ? plannedAtMs : (history.lastUsedMs.get(key) ?? -Infinity);
  return lastMs + request.settings.policy.unusedForMs > plannedAtMs;
}

/** Whether a line that was valid when the plan was made has expired since. */
function hasExpired(
  { request, deps, plannedAtMs }: ApplyContext,
  { kind, name }: NumberedOperation,
): boolean {
  const days = [plannedAtMs, deps.clock.nowMs()].map((ms) => new Date(ms).toISOString().slice(0, 10));
  const [then = '', now = ''] = days;
  const allowances = linesFor(request.settings.desired.allowedDeletes, { kind, name });
  return (
    allowances.some((allowance) => isOpen(allowance, then)) &&
    !allowances.some((allowance) => isOpen(allowance, now))
  );
}
