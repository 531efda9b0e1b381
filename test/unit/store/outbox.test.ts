// The outbox of notifications: decisions, what is due, delivery, pruning.
import { describe, expect, it } from 'vitest';
import type { NotifiedState } from '../../../src/core/notice.ts';
import type { DeliveryOutcome, NewNotice, TargetUpdate } from '../../../src/core/ports/outbox.ts';
import type { Fixture } from './fixture.ts';
import { DAY_MS, fixture, openAgain, runId, T0 } from './fixture.ts';

const CLAIM_MS = 120_000;
const RETENTION = 90 * DAY_MS;

function notified(state: 'failed' | 'ok', asOfMs = T0): NotifiedState {
  return { states: state === 'ok' ? {} : { [state]: state }, asOfMs };
}

function notice(n: number, of: Partial<NewNotice> = {}): NewNotice {
  return { id: `notice-${String(n)}`, runId: runId(n), type: 'failed', commit: null, body: '{}', ...of };
}

/** Notifies one target that an account failed, in as many runs as there are notices. */
async function queue(
  store: Fixture,
  notices: readonly NewNotice[],
  { target = 't', account = 'acme', atMs = T0 } = {},
): Promise<void> {
  await store.outbox.notify(account, [target], () => ({ notified: notified('failed'), notices }), atMs);
}

const limits = (messages = 9, collectMs = 0) => ({ messages, collectMs });

async function due(store: Fixture, nowMs = T0, { target = 't', limit = 9 } = {}) {
  const { messages } = await store.outbox.takeDue(target, limits(limit), nowMs);
  return messages.flat().map(({ id }) => id);
}

/** Settles the message that has only this notice. */
const settle = (store: Fixture, id: string, outcome: DeliveryOutcome, atMs = T0) =>
  store.outbox.settle([{ ...notice(0, { id }), account: '', attempts: 0 }], outcome, atMs);

describe('notifying', () => {
  it('decides by the last notified state of each target, and stores the new state', async () => {
    const { outbox } = await fixture();
    const calls: (readonly [string, NotifiedState | null])[] = [];
    const update = (next: NotifiedState | null) => (target: string, known: NotifiedState | null) => {
      calls.push([target, known]);
      return { notified: target === 'a' ? next : null, notices: [] };
    };
    await outbox.notify('acme', ['a', 'b'], update(notified('failed')), T0);
    await outbox.notify('other', ['a'], update(notified('ok')), T0);
    await outbox.notify('acme', ['a', 'b'], update(notified('ok', T0 + 5)), T0);
    await outbox.notify('acme', ['a'], update(null), T0);
    expect(calls).toEqual([
      ['a', null],
      ['b', null],
      ['a', null],
      ['a', notified('failed')],
      ['b', null],
      ['a', notified('ok', T0 + 5)],
    ]);
  });

  it('stores all notices and states, or nothing when that fails', async () => {
    const store = await fixture();
    const update = (target: string): TargetUpdate => {
      if (target === 'b') throw new Error('a bug');
      return { notified: notified('failed'), notices: [notice(1)] };
    };
    await expect(store.outbox.notify('acme', ['a', 'b'], update, T0)).rejects.toThrow('a bug');
    expect(store.rows('select * from notices')).toEqual([]);
    expect(store.rows('select * from notice_states')).toEqual([]);
  });

  it('is decided by one process after the other', async () => {
    const first = await fixture();
    const stores = [first, await openAgain(first), await openAgain(first)];
    const update = (_: string, known: NotifiedState | null): TargetUpdate =>
      known === null
        ? { notified: notified('failed'), notices: [notice(1, { id: String(Math.random()) })] }
        : { notified: known, notices: [] };
    const added = await Promise.all(stores.map(({ outbox }) => outbox.notify('acme', ['t'], update, T0)));
    expect(added.reduce((sum, each) => sum + each)).toBe(1);
    expect(first.rows('select count(*) as n from notices')).toEqual([{ n: 1 }]);
  });

  it('stores a notice of a run once for each target and type', async () => {
    const { outbox } = await fixture();
    const update = (n: number) => (target: string) => ({
      notified: null,
      notices: [
        notice(1, { id: `${target}${String(n)}`, type: 'applied' }),
        notice(1, { id: `${target}${String(n)}x`, type: 'held' }),
      ],
    });
    expect(await outbox.notify('acme', ['a', 'b'], update(1), T0)).toBe(4);
    expect(await outbox.notify('acme', ['a', 'b'], update(2), T0)).toBe(0);
  });
});

describe('what is due', () => {
  it('is the oldest open notice of each account, oldest first, up to the limit', async () => {
    const store = await fixture();
    await queue(store, [notice(1), notice(2)], { account: 'acme' });
    await queue(store, [notice(3)], { account: 'other' });
    await queue(store, [notice(4)], { account: 'third' });
    await queue(store, [notice(5)], { target: 'another' });
    const { messages, nextAtMs } = await store.outbox.takeDue('t', limits(2), T0);
    expect(messages).toEqual([
      [{ ...notice(1), account: 'acme', attempts: 0 }],
      [{ ...notice(3), account: 'other', attempts: 0 }],
    ]);
    expect(nextAtMs).toBe(T0);
    expect(await due(store)).toEqual(['notice-4']);
    expect(await due(store, T0, { target: 'another' })).toEqual(['notice-5']);
  });

  it('is taken by one process, and again when that one has not settled it for two minutes', async () => {
    const store = await fixture();
    const stores = [store, await openAgain(store), await openAgain(store)];
    for (const n of [1, 2, 3]) await queue(store, [notice(n)], { account: String(n) });
    const take = async (atMs: number) => (await Promise.all(stores.map((each) => due(each, atMs)))).flat();
    expect((await take(T0)).toSorted()).toEqual(['notice-1', 'notice-2', 'notice-3']);
    await settle(store, 'notice-2', { type: 'delivered' });
    expect(await take(T0 + CLAIM_MS - 1)).toEqual([]);
    expect((await take(T0 + CLAIM_MS)).toSorted()).toEqual(['notice-1', 'notice-3']);
  });

  it('keeps the order of an account’s notices, also while one waits for its next attempt', async () => {
    const store = await fixture();
    await queue(store, [notice(1), notice(2)]);
    await settle(store, 'notice-1', { type: 'retry', atMs: T0 + 4000, reason: 'http_500' });
    const next = { messages: [], nextAtMs: T0 + 4000 };
    expect(await store.outbox.takeDue('t', limits(), T0 + 3999)).toEqual(next);
    const again = await store.outbox.takeDue('t', limits(), T0 + 4000);
    expect(again.messages).toMatchObject([[{ id: 'notice-1', attempts: 1 }]]);
    await settle(store, 'notice-1', { type: 'delivered' }, T0 + 4000);
    expect(await due(store, T0 + 4000)).toEqual(['notice-2']);
    await settle(store, 'notice-2', { type: 'undelivered', reason: 'http_410' }, T0 + 4000);
    const none = { messages: [], nextAtMs: null };
    expect(await store.outbox.takeDue('t', limits(), T0 + DAY_MS)).toEqual(none);
  });
});

describe('a collected message', () => {
  const MINUTE = 60_000;

  async function dueMessages(store: Fixture, nowMs: number) {
    const { messages, nextAtMs } = await store.outbox.takeDue('t', limits(9, MINUTE), nowMs);
    return [messages.map((message) => message.map(({ id }) => id.replace('notice-', '')).join()), nextAtMs];
  }

  it('has all notices of a commit, when none has followed for its time', async () => {
    const store = await fixture();
    await queue(store, [notice(1, { commit: 'a' }), notice(2, { commit: 'a', type: 'held' })]);
    await queue(store, [notice(3, { commit: 'a' })], { account: 'other', atMs: T0 + MINUTE - 1 });
    await queue(store, [notice(4)], { account: 'third', atMs: T0 + MINUTE });
    expect(await dueMessages(store, T0 + MINUTE)).toEqual([[], T0 + 2 * MINUTE - 1]);
    expect(await dueMessages(store, T0 + 2 * MINUTE - 1)).toEqual([['1,2,3'], T0 + 2 * MINUTE]);
    const takenMs = T0 + 2 * MINUTE - 1;
    expect(await dueMessages(store, T0 + 2 * MINUTE)).toEqual([['4'], takenMs + CLAIM_MS]);
    expect(await dueMessages(store, T0 + 2 * MINUTE + CLAIM_MS)).toEqual([['1,2,3', '4'], null]);
  });

  it('is due after five times as long while notices follow', async () => {
    const store = await fixture();
    for (const n of [0, 1, 2, 3, 4, 5])
      await queue(store, [notice(n, { commit: 'a' })], { account: String(n), atMs: T0 + n * 50_000 });
    expect(await dueMessages(store, T0 + 5 * MINUTE - 1)).toEqual([[], T0 + 5 * MINUTE]);
    expect(await dueMessages(store, T0 + 5 * MINUTE)).toEqual([['0,1,2,3,4,5'], null]);
  });

  it('keeps its notices when an attempt has failed, and no later one overtakes it', async () => {
    const store = await fixture();
    await queue(store, [notice(1, { commit: 'a' })]);
    await queue(store, [notice(2, { commit: 'a' })], { account: 'other' });
    const [first] = (await store.outbox.takeDue('t', limits(9, MINUTE), T0 + MINUTE)).messages;
    if (first === undefined) throw new Error('no message');
    const atMs = T0 + 2 * MINUTE;
    await store.outbox.settle(first, { type: 'retry', atMs, reason: 'http_500' }, T0 + MINUTE);
    await queue(store, [notice(3, { commit: 'a' })], { atMs: T0 + MINUTE });
    await queue(store, [notice(4, { commit: 'a' })], { account: 'third', atMs: T0 + MINUTE });
    expect(await dueMessages(store, atMs)).toEqual([['1,2'], null]);
    await store.outbox.settle(first, { type: 'delivered' }, atMs);
    expect(await dueMessages(store, atMs)).toEqual([['3,4'], null]);
  });
});

describe('pruning', () => {
  it('deletes old notices, also those whose target was removed before they were delivered', async () => {
    const store = await fixture();
    for (const [n, account] of ['delivered', 'given up', 'open'].entries())
      await queue(store, [notice(n)], { account });
    await settle(store, 'notice-0', { type: 'delivered' });
    await settle(store, 'notice-1', { type: 'undelivered', reason: 'http_410' });
    await store.prune(RETENTION, T0 + 90 * DAY_MS);
    expect(store.rows('select id from notices')).toHaveLength(3);
    await store.prune(RETENTION, T0 + 90 * DAY_MS + 1);
    expect(store.rows('select id from notices')).toEqual([]);
  });
});
