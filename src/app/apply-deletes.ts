// Carries out the deletes of a plan. Right before the first one, and every 60 seconds while deleting, the lists are
// read again: what is gone is done, what somebody renamed or was given meanwhile is held (contract, section 5).
import type { ObservedCatalog } from '../core/catalog.ts';
import type { Entry } from '../core/catalog.ts';
import { nameKey } from '../core/names.ts';
import type { HoldRule } from '../core/plan.ts';
import type { UsageIndex } from '../core/usage.ts';
import { entryKey, holdingsOf, usageOf } from '../core/usage.ts';
import { ServiceError } from '../core/errors.ts';
import type { ApplyContext, NumberedOperation } from './apply-context.ts';
import { conclude, forEachOperation, halted, noteFailure, skip } from './apply-context.ts';
import { readLists } from './observe.ts';
import { waits } from './settle.ts';

const READ_AGAIN_MS = 60_000;

interface Reading {
  readonly entries: ReadonlyMap<string, Entry>;
  readonly usage: UsageIndex;
  readonly atMs: number;
}

/** A delete that was answered, or not, in a way that does not say whether the entry is gone. */
interface UnsureDelete {
  readonly operation: NumberedOperation;
  readonly status: 'failed' | 'unknown';
  readonly attempts: number;
  readonly httpStatus: number | null;
  readonly reason: string;
  readonly sinceMs: number;
}

/** Every delete ends as done, failed, unknown, held or skipped. */
export async function applyDeletes(
  context: ApplyContext,
  deletes: readonly NumberedOperation[],
): Promise<void> {
  if (deletes.length === 0) return;
  const unsure: UnsureDelete[] = [];
  const current = freshReading(context);
  await forEachOperation(context, deletes, async (operation) => {
    const reading = await current();
    if (reading === null) return;
    const doubt = await deleteOne(context, operation, reading);
    if (doubt !== null) unsure.push(doubt);
  });
  await resolve(context, unsure);
  skip(context, deletes, context.halt?.message ?? 'the lists could not be read again before deleting');
}

/** The lists, read again when they are older than a minute; null when they cannot be read. */
function freshReading(context: ApplyContext): () => Promise<Reading | null> {
  let latest: Promise<Reading | null> | null = null;
  let atMs = 0;
  return () => {
    const nowMs = context.deps.clock.nowMs();
    if (latest === null || nowMs - atMs >= READ_AGAIN_MS) {
      atMs = nowMs;
      latest = read(context);
    }
    return latest;
  };
}

async function read(context: ApplyContext): Promise<Reading | null> {
  try {
    const observed = await readLists(context.reader);
    return { ...index(observed), atMs: context.deps.clock.nowMs() };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    noteFailure(context, error);
    return null;
  }
}

function index(observed: ObservedCatalog): Pick<Reading, 'entries' | 'usage'> {
  return {
    entries: new Map([
      ...observed.skill.map((entry) => [entryKey('skill', entry.id), entry] as const),
      ...observed.role.map((entry) => [entryKey('role', entry.id), entry] as const),
    ]),
    usage: usageOf(observed.resources.flatMap(holdingsOf)),
  };
}

async function deleteOne(
  context: ApplyContext,
  operation: NumberedOperation,
  reading: Reading,
): Promise<UnsureDelete | null> {
  const { kind, seq, remoteId = '' } = operation;
  const { clock } = context.deps;
  const entry = reading.entries.get(entryKey(kind, remoteId));
  if (entry === undefined) {
    conclude(context, seq, 'done', { reason: 'it was gone already' });
    return null;
  }
  const hold = changedMeanwhile(operation, entry, reading);
  if (hold !== null) {
    conclude(context, seq, 'held', hold);
    return null;
  }
  if (halted(context)) return null;
  if ((await context.log.sent(seq, clock.nowMs())) === 'lock_lost') {
    context.halt ??= { code: 'lock_lost', message: 'another process took the account over' };
    return null;
  }
  const outcome = await context.writer.delete(kind, remoteId);
  const { attempts } = outcome;
  switch (outcome.type) {
    case 'deleted':
      conclude(context, seq, 'done', { attempts, httpStatus: outcome.httpStatus });
      return null;
    case 'doubtful': {
      const { httpStatus, reason } = outcome;
      conclude(context, seq, 'unknown', { attempts, httpStatus, reason });
      return { operation, status: 'unknown', attempts, httpStatus, reason, sinceMs: clock.nowMs() };
    }
    case 'failed': {
      const { message: reason, httpStatus = null } = outcome.error;
      noteFailure(context, outcome.error);
      if (httpStatus === 404 || httpStatus === 410) {
        conclude(context, seq, 'done', { attempts, httpStatus, reason: 'it was gone already' });
        return null;
      }
      conclude(context, seq, attempts === 0 ? 'skipped' : 'failed', { attempts, httpStatus, reason });
      // The settle time counts from now on only where the answer was lost; a refusal is looked up once.
      return { operation, status: 'failed', attempts, httpStatus, reason, sinceMs: 0 };
    }
    default:
      return outcome satisfies never;
  }
}

/** Why the delete must wait although the plan allowed it: what it named is not what is there any more. */
function changedMeanwhile(
  operation: NumberedOperation,
  entry: Entry,
  reading: Reading,
): { rule: HoldRule; reason: string } | null {
  if (nameKey(entry.name) !== nameKey(operation.name)) {
    return {
      rule: 'rename',
      reason: `it was renamed to ${JSON.stringify(entry.name)} while the run was under way; the next run judges it anew`,
    };
  }
  const planned = new Set(operation.usedBy ?? []);
  const holders = reading.usage.get(entryKey(operation.kind, entry.id)) ?? [];
  const given = holders.filter((id) => !planned.has(id));
  if (given.length === 0) return null;
  return {
    rule: 'in_use',
    reason: `it was given to ${given.slice(0, 5).join(', ')}${given.length > 5 ? ` and ${given.length - 5} more` : ''} while the run was under way; the next run judges it anew`,
  };
}

/** A delete of an entry that is gone counts as done, whatever its status said; a list tells. */
async function resolve(context: ApplyContext, unsure: readonly UnsureDelete[]): Promise<void> {
  const { clock } = context.deps;
  const { settleMs } = context.request.api;
  let open = [...unsure];
  for (const waitMs of waits()) {
    if (open.length === 0 || context.halt?.code === 'unauthorized') return;
    const readAtMs = clock.nowMs();
    const reading = await read(context);
    if (reading !== null) {
      for (const { operation, attempts, httpStatus } of open) {
        if (reading.entries.has(entryKey(operation.kind, operation.remoteId ?? ''))) continue;
        conclude(context, operation.seq, 'done', {
          attempts,
          httpStatus,
          reason: 'the list shows that it is gone',
        });
      }
    }
    open = open.filter(
      ({ operation, sinceMs }) =>
        context.statuses.get(operation.seq)?.status !== 'done' && readAtMs - sinceMs < settleMs,
    );
    if (open.length === 0 || halted(context)) return;
    await clock.sleep(waitMs, context.request.signals.stop);
  }
}
