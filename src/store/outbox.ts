// The outbox of notifications: the state that each target was last notified of, and the notices to deliver.
import type { Selectable } from 'kysely';
import type { NotifiedState } from '../core/notice.ts';
import {
  CLAIM_MS,
  type DeliveryOutcome,
  type NewNotice,
  type Outbox,
  type QueuedNotice,
} from '../core/ports/outbox.ts';
import type { Database, Tables } from './tables.ts';
import { engineOf } from './engine.ts';
import { toIso, toMs } from './row-values.ts';
import { immediately } from './transactions.ts';

export function createOutbox(db: Database): Outbox {
  return {
    notify(account, targets, update, nowMs) {
      return immediately(db, `notices ${account}`, async (connection) => {
        const known = await readNotifiedStates(connection, account);
        let added = 0;
        for (const target of targets) {
          const { notified, notices } = update(target, known.get(target) ?? null);
          if (notified !== null) await writeNotifiedState(connection, target, account, notified);
          for (const notice of notices)
            added += await addNotice(connection, { target, account, createdAtMs: nowMs }, notice);
        }
        return added;
      });
    },

    claim(target, claimant, limit, ownMs) {
      return immediately(db, `target ${target}`, async (connection) => {
        // By its own clock, a replica whose clock is ahead would send again what another one is sending.
        const nowMs = await engineOf(db).clockMs(connection, ownMs);
        const heads = await openHeads(connection, target);
        const due = heads.filter((head) => dueAtMs(head) <= nowMs).slice(0, limit);
        const claimed = new Set(due.map(({ seq }) => seq));
        if (due.length > 0) {
          await connection
            .updateTable('notices')
            .set({ claimed_by: claimant, claimed_until: toIso(nowMs + CLAIM_MS) })
            .where('seq', 'in', [...claimed])
            .execute();
        }
        const others = heads.filter(({ seq }) => !claimed.has(seq)).map(dueAtMs);
        return {
          notices: due.map(toQueued),
          nextAtMs: others.length === 0 ? null : Math.max(nowMs, Math.min(...others)),
        };
      });
    },

    async settle(id, claimant, outcome, nowMs) {
      const result = await db
        .updateTable('notices')
        .set((eb) => ({
          ...outcomeColumns(outcome, toIso(nowMs)),
          attempts: eb('attempts', '+', 1),
          claimed_by: null,
          claimed_until: null,
        }))
        .where('id', '=', id)
        .where('claimed_by', '=', claimant)
        .executeTakeFirst();
      return result.numUpdatedRows > 0n;
    },
  };
}

async function readNotifiedStates(
  connection: Database,
  account: string,
): Promise<ReadonlyMap<string, NotifiedState>> {
  const rows = await connection
    .selectFrom('notice_states')
    .selectAll()
    .where('account', '=', account)
    .execute();
  return new Map(rows.map((row) => [row.target, toNotifiedState(row)]));
}

function toNotifiedState(row: Tables['notice_states']): NotifiedState {
  // Only writeNotifiedState writes it, so the shape is known.
  return { states: JSON.parse(row.states) as NotifiedState['states'], asOfMs: toMs(row.as_of) };
}

async function writeNotifiedState(
  connection: Database,
  target: string,
  account: string,
  notified: NotifiedState,
): Promise<void> {
  const values = { states: JSON.stringify(notified.states), as_of: toIso(notified.asOfMs) };
  await connection
    .insertInto('notice_states')
    .values({ target, account, ...values })
    .onConflict((conflict) => conflict.columns(['target', 'account']).doUpdateSet(values))
    .execute();
}

async function addNotice(
  connection: Database,
  { target, account, createdAtMs }: { target: string; account: string; createdAtMs: number },
  { id, runId, type, body }: NewNotice,
): Promise<number> {
  const now = toIso(createdAtMs);
  const result = await connection
    .insertInto('notices')
    .values({ id, target, account, run_id: runId, type, body, created_at: now, next_attempt_at: now })
    .onConflict((conflict) => conflict.columns(['target', 'run_id', 'type']).doNothing())
    .executeTakeFirst();
  return Number(result.numInsertedOrUpdatedRows ?? 0);
}

/** The oldest open notice of each account, claimed or not. */
async function openHeads(connection: Database, target: string): Promise<Selectable<Tables['notices']>[]> {
  return await connection
    .selectFrom('notices')
    .selectAll()
    .where('seq', 'in', (eb) =>
      eb
        .selectFrom('notices')
        .select((of) => of.fn.min('seq').as('seq'))
        .where('target', '=', target)
        .where('delivered_at', 'is', null)
        .where('failed_at', 'is', null)
        .groupBy('account'),
    )
    .orderBy('seq')
    .execute();
}

function dueAtMs(row: Selectable<Tables['notices']>): number {
  return Math.max(toMs(row.next_attempt_at), row.claimed_until === null ? 0 : toMs(row.claimed_until));
}

function toQueued(row: Selectable<Tables['notices']>): QueuedNotice {
  const { id, account, run_id: runId, type, body, attempts } = row;
  return { id, account, runId, type, body, attempts };
}

function outcomeColumns(outcome: DeliveryOutcome, now: string) {
  switch (outcome.type) {
    case 'delivered':
      return { delivered_at: now, error: null };
    case 'retry':
      return { next_attempt_at: toIso(outcome.atMs), error: outcome.reason };
    case 'undelivered':
      return { failed_at: now, error: outcome.reason };
    default:
      return outcome satisfies never;
  }
}
