// The outbox of notifications: the state that each target was last notified of, and the notices to deliver.
import { type RawBuilder, type Selectable, sql } from 'kysely';
import type { NotifiedState } from '../core/notice.ts';
import type { DeliveryOutcome, NewNotice, Outbox, QueuedNotice } from '../core/ports/outbox.ts';
import type { Database, Tables } from './tables.ts';
import { jsonList, toIso, toMs } from './row-values.ts';
import { immediately } from './engine.ts';

export function createOutbox(db: Database): Outbox {
  return {
    notify(account, targets, update, nowMs) {
      return immediately(db, `notices ${account}`, async (connection) => {
        const states = connection.selectFrom('notice_states').selectAll().where('account', '=', account);
        const known = new Map((await states.execute()).map((row) => [row.target, toNotifiedState(row)]));
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

    async states(target) {
      const rows = await db.selectFrom('notice_states').selectAll().where('target', '=', target).execute();
      return new Map(rows.map((row) => [row.account, toNotifiedState(row)]));
    },

    async takeDue(target, { messages: limit, collectMs }, nowMs) {
      const open = await openMessages(db, target, collectMs);
      const due = open.filter((message) => dueAtMs(message, collectMs) <= nowMs).slice(0, limit);
      const others = open.filter((message) => !due.includes(message));
      // What a message contains must not change between two attempts, which have the same id.
      for (const message of due) {
        if (collectMs === 0 || message[0].message_id !== null) continue;
        const named = db.updateTable('notices').set({ message_id: message[0].id });
        await named.where('id', 'in', idsOf(message)).execute();
      }
      const claimed = await claim(db, due, nowMs);
      const nextMs = Math.min(...others.map((message) => dueAtMs(message, collectMs)));
      return {
        messages: claimed.map(([first, ...more]) => [toQueued(first), ...more.map(toQueued)]),
        nextAtMs: others.length === 0 ? null : Math.max(nowMs, nextMs),
      };
    },

    async settle(message, outcome, nowMs) {
      await db
        .updateTable('notices')
        .set((eb) => ({ ...outcomeColumns(outcome, toIso(nowMs)), attempts: eb('attempts', '+', 1) }))
        .where('id', 'in', idsOf(message))
        .execute();
    },
  };
}

function idsOf(message: readonly { readonly id: string }[]): RawBuilder<string> {
  return jsonList(message.map(({ id }) => id));
}

/** So long a process may send a message, or know its outcome and wait for the store. */
const CLAIM_MS = 120_000;

/** One statement, which changes the time of the next attempt: of several processes that have read a message, one claims it. */
async function claim(db: Database, due: readonly Message[], nowMs: number): Promise<Message[]> {
  if (due.length === 0) return [];
  const { rows } = await sql<{ id: string }>`
    update notices set next_attempt_at = ${toIso(nowMs + CLAIM_MS)}
    where id in ${jsonList(due.map(([{ id }]) => id))} and next_attempt_at <= ${toIso(nowMs)}
      and delivered_at is null returning id`.execute(db);
  return due.filter(([{ id }]) => rows.some((row) => row.id === id));
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
  { runId: run_id, commit: config_commit, ...notice }: NewNotice,
): Promise<number> {
  const now = toIso(createdAtMs);
  const result = await connection
    .insertInto('notices')
    .values({ ...notice, target, account, run_id, config_commit, created_at: now, next_attempt_at: now })
    .onConflict((conflict) => conflict.columns(['target', 'run_id', 'type']).doNothing())
    .executeTakeFirst();
  return Number(result.numInsertedOrUpdatedRows ?? 0);
}

type Notice = Selectable<Tables['notices']>;
type Message = readonly [Notice, ...Notice[]];

/** A longer backlog of a target that does not answer is not read at once. */
const MOST_OPEN = 2000;
const LONGEST_COLLECTED = 5;

/** The messages that have begun, and those of the other open notices; without those that would overtake another one. */
async function openMessages(connection: Database, target: string, collectMs: number): Promise<Message[]> {
  const open = connection.selectFrom('notices').selectAll().where('target', '=', target);
  const undelivered = open.where('delivered_at', 'is', null).where('failed_at', 'is', null);
  const messages = new Map<string, [Notice, ...Notice[]]>();
  for (const notice of await undelivered.orderBy('seq').limit(MOST_OPEN).execute()) {
    const key = notice.message_id ?? (collectMs === 0 ? notice.id : `of ${notice.config_commit ?? ''}`);
    const message = messages.get(key);
    if (message === undefined) messages.set(key, [notice]);
    else message.push(notice);
  }
  const accounts = new Set<string>();
  return [...messages.values()].filter((message) => {
    const isFirst = !message.some(({ account }) => accounts.has(account));
    for (const { account } of message) accounts.add(account);
    return isFirst;
  });
}

function dueAtMs(message: Message, collectMs: number): number {
  const [first] = message;
  if (first.message_id !== null || collectMs === 0) return toMs(first.next_attempt_at);
  const lastMs = Math.max(...message.map((row) => toMs(row.created_at)));
  return Math.min(lastMs + collectMs, toMs(first.created_at) + LONGEST_COLLECTED * collectMs);
}

function toQueued(row: Notice): QueuedNotice {
  const { id, account, run_id: runId, type, config_commit: commit, body, attempts } = row;
  return { id, account, runId, type, commit, body, attempts };
}

function outcomeColumns(outcome: DeliveryOutcome, now: string) {
  if (outcome.type === 'delivered') return { delivered_at: now, error: null };
  const error = outcome.reason;
  return outcome.type === 'retry'
    ? { next_attempt_at: toIso(outcome.atMs), error }
    : { failed_at: now, error };
}
