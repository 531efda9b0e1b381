// Opens the turns of several replicas in a PostgreSQL store.
import { type RawBuilder, sql } from 'kysely';
import type { TurnStore } from '../../core/turn-store.ts';
import type { Database } from '../tables.ts';
import { claimedTurns } from './claimed-turns.ts';
import { replicasTable } from './replicas.ts';
import { turnConfiguration } from './turn-configuration.ts';
import { turnRequests, turnStates } from './turn-requests.ts';

/** `now` is the database's clock; a test passes its own. */
export function createTurnStore(
  db: Database,
  connections: Pick<TurnStore, 'listen' | 'probe'>,
  now: RawBuilder<unknown> = sql`now()`,
): TurnStore {
  const context = { db, now };
  return {
    ...replicasTable(context),
    ...turnConfiguration(context),
    ...claimedTurns(context),
    ...turnRequests(context),
    ...turnStates(context),
    ...connections,
  };
}
