// Before planning: finds out the outcome of operations that earlier runs left open, so that no create is sent twice.
import { ServiceError } from '../core/errors.ts';
import { keysOf } from '../core/usage.ts';
import type { Observation } from './observe.ts';
import type { UnsettledCreate } from '../core/ports/journal.ts';
import { guardAccount } from './account-guard.ts';
import type { DryRunDeps, ReadingRun } from './request.ts';
import { type Doubt, settle, waits } from './settle.ts';

interface EarlierDoubt extends Doubt {
  readonly create: UnsettledCreate;
}

/** Settles what earlier runs left open. Resolves with true when it took time, so that the lists must be read again. */
export async function settleEarlierOperations(
  run: ReadingRun<DryRunDeps>,
  observation: Observation,
): Promise<boolean> {
  const own = { ...run, reader: guardAccount(run.reader, () => observation.remoteAccountId) };
  const [deletes, creates] = [await settleDeletes(own, observation), await settleCreates(own, observation)];
  return deletes || creates;
}

/** Waits for a delete whose entry is still listed until `settle` has passed since it was sent: the list may be stale. */
async function settleDeletes(
  { reader, runId, request, deps }: ReadingRun<DryRunDeps>,
  { observed, remoteAccountId }: Observation,
): Promise<boolean> {
  const { settings, api, signals } = request;
  const { journal, clock } = deps;
  const owner = { account: settings.name, remoteAccountId };
  const startedAtMs = clock.steadyMs();
  let listed = keysOf(observed);
  let isOld = false;
  for (const waitMs of waits()) {
    const nowMs = clock.nowMs();
    // A clock that is set back must not prolong the wait.
    const isOver = clock.steadyMs() - startedAtMs >= api.settleMs;
    const openSinceMs = isOver ? Infinity : nowMs - api.settleMs;
    const open = await journal.settleDeletes(owner, listed, { runId, nowMs, openSinceMs });
    if (open === 0 || signals.stop.aborted) break;
    const forMs = Math.max(0, startedAtMs + api.settleMs - clock.steadyMs());
    request.progress?.({ type: 'earlier', operations: open, forMs });
    await clock.sleep(waitMs, signals.stop);
    isOld = true;
    try {
      const [skill, role] = [await reader.listEntries('skill'), await reader.listEntries('role')];
      listed = keysOf({ skill: skill.items, role: role.items });
    } catch (error) {
      if (!(error instanceof ServiceError) || error.kind === 'identity') throw error;
      // A failed reading settles nothing; a later reading may succeed.
    }
  }
  return isOld;
}

async function settleCreates(
  { reader, runId, request, deps }: ReadingRun<DryRunDeps>,
  { remoteAccountId }: Observation,
): Promise<boolean> {
  const { settings, api, signals } = request;
  const { journal, clock } = deps;
  const creates = await journal.unsettledCreates(settings.name, remoteAccountId);
  if (creates.length === 0) return false;
  const doubts = await Promise.all(
    creates.map(async (create): Promise<EarlierDoubt> => {
      const known = await journal.knownIds(settings.name, remoteAccountId, create.runId);
      const ageMs = Math.max(0, clock.nowMs() - create.sinceMs);
      const sinceMs = clock.steadyMs() - ageMs;
      return { ...create, sinceMs, create, isKnown: (key) => known.has(key) };
    }),
  );
  const settlements = settle(new Set(doubts), reader, {
    settleMs: api.settleMs,
    recheckMs: api.recheckMs,
    desired: settings.desired,
    clock,
    stop: signals.stop,
    isStopped: () => signals.stop.aborted,
    onWait: (wait) => request.progress?.({ type: 'earlier', ...wait }),
  });
  for await (const settlement of settlements) {
    const entry = settlement.type === 'found' ? settlement.entry : null;
    await journal.settleCreate(settlement.doubt.create, entry, runId, clock.nowMs());
  }
  return true;
}
