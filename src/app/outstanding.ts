// Before planning: what earlier runs sent and nobody knows the outcome of is found out, so that no create is sent twice.
import { KINDS } from '../core/catalog.ts';
import { nameKey } from '../core/names.ts';
import { entryKey } from '../core/usage.ts';
import type { Observation } from './observe.ts';
import type { OutstandingCreate, ServiceReader } from '../core/ports.ts';
import { ownLists } from './own-lists.ts';
import type { AccountRequest, DryRunDeps } from './request.ts';
import type { Doubt } from './settle.ts';
import { settle } from './settle.ts';

interface OutstandingDoubt extends Doubt {
  readonly create: OutstandingCreate;
}

/** Settles what earlier runs left open. Returns how many creates there were; the lists are old then. */
export async function settleOutstanding(
  reader: ServiceReader,
  runId: string,
  { observed, remoteAccountId }: Observation,
  { settings, api, signals }: AccountRequest,
  { journal, clock }: DryRunDeps,
): Promise<number> {
  const listed = new Set(KINDS.flatMap((kind) => observed[kind].map(({ id }) => entryKey(kind, id))));
  await journal.settleDeletes(settings.name, remoteAccountId, listed, runId, clock.nowMs());
  const creates = await journal.outstandingCreates(settings.name, remoteAccountId);
  if (creates.length === 0) return 0;
  const doubts = await Promise.all(
    creates.map(async (create): Promise<OutstandingDoubt> => {
      const known = await journal.knownIds(settings.name, remoteAccountId, create.runId);
      const sinceMs = clock.steadyMs() - Math.max(0, clock.nowMs() - create.sinceMs);
      return { ...create, sinceMs, create, isKnown: (key) => known.has(key) };
    }),
  );
  const settlements = await settle(
    doubts,
    ownLists(reader, () => remoteAccountId),
    {
      settleMs: api.settleMs,
      isDesired: (kind, name) =>
        settings.desired[kind]?.some((entry) => nameKey(entry.name) === nameKey(name)) === true,
      clock,
      stop: signals.stop,
    },
  );
  for (const { doubt, ...settlement } of settlements) {
    if (settlement.type === 'open') continue;
    const entry = settlement.type === 'found' ? settlement.entry : null;
    await journal.settleOutstanding(doubt.create, entry, runId, clock.nowMs());
  }
  return creates.length;
}
