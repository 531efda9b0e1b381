// Before planning: creates of earlier runs whose outcome nobody knows are found out first, so that none is sent twice.
import { nameKey } from '../core/names.ts';
import type { OutstandingCreate, ServiceReader } from '../core/ports.ts';
import type { AccountRequest, PlanningDeps } from './request.ts';
import type { Doubt } from './settle.ts';
import { settle } from './settle.ts';

interface OutstandingDoubt extends Doubt {
  readonly create: OutstandingCreate;
}

/** Settles what earlier runs left open. Returns how many there were; the lists are old then. */
export async function settleOutstanding(
  reader: ServiceReader,
  runId: string,
  remoteAccountId: string | null,
  { settings, api, signals }: AccountRequest,
  { journal, clock }: PlanningDeps,
): Promise<number> {
  const creates = await journal.outstandingCreates(settings.name, remoteAccountId);
  if (creates.length === 0) return 0;
  const doubts = await Promise.all(
    creates.map(async (create): Promise<OutstandingDoubt> => {
      const known = await journal.knownIds(settings.name, remoteAccountId, create.runId);
      return { ...create, create, isKnown: (key) => known.has(key) };
    }),
  );
  const settlements = await settle(doubts, reader, {
    settleMs: api.settleMs,
    isDesired: (kind, name) =>
      settings.desired[kind]?.some((entry) => nameKey(entry.name) === nameKey(name)) === true,
    clock,
    stop: signals.stop,
  });
  for (const { doubt, ...settlement } of settlements) {
    if (settlement.type === 'open') continue;
    const entry = settlement.type === 'found' ? settlement.entry : null;
    await journal.settleOutstanding(doubt.create, entry, runId, clock.nowMs());
  }
  return creates.length;
}
