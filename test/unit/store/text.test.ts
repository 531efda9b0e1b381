// Names, ids and messages that a service or an operator may choose are stored and read unchanged.
import fc from 'fast-check';
import '../../support/seed.ts';
import { times } from '../../support/thorough.ts';
import { expect, it } from 'vitest';
import { entryKey } from '../../../src/core/usage.ts';
import { observed, person } from '../core/builders.ts';
import type { Fixture } from './fixture.ts';
import { ENGINE, fixture, listed, operation, result, runId, T0 } from './fixture.ts';

/** What has a meaning in JSON, in SQL, or in the marks of what PostgreSQL's text cannot hold. */
// prettier-ignore
const PIECES = [
  '\0', '\uD83D', '\uDE00', '\uD800', '\uDFFF', '\uFDD0', '\uFDD1', '\uFFFF', '\u0001', '\u007F', '😀', 'é',
  '\\', '\\\\', '\\u', '\\u0000', '\\ud800', '\\uFDD0', 'u0000', '0000', 'fdd0', 'd800', '"', "'", "''",
  '$1', '?', '%', '_', ':', ';', '--', '/*', '[', ']', '{', '}', ',', '\n', '\r', '\t', ' ', 'a', 'Z', 'null',
];

/** SQLite's text holds no half of a surrogate pair. */
const isStorable = (text: string): boolean => ENGINE === 'postgres' || !/\p{Surrogate}/u.test(text);

const text = fc
  .array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 6 })
  .map((some) => some.join(''));
const texts = fc
  .record({ id: text, name: text, other: text, message: text })
  .filter((each) => Object.values(each).every(isStorable));

type Texts = typeof texts extends fc.Arbitrary<infer T> ? T : never;

/** Passes the texts to every method that stores some, and expects them from every method that reads them. */
async function roundTrip(store: Fixture, n: number, { id, name, other, message }: Texts): Promise<void> {
  const { journal, reader, operator, outbox } = store;
  const account = `account-${n}`;
  const target = `${other} ${n}`;
  const lease = await store.take(runId(n), T0, account);
  const run = await store.begin(n, { account });
  const lists = { skill: [listed(id, name)], resources: [person(id, [id])] };
  await store.record(run, lists, { account });
  await journal.addOperations(run, [
    operation({ name: other }),
    operation({ action: 'delete', name, remoteId: id, status: 'held', rule: 'in_use', reason: message }),
  ]);
  await journal.commitOperations(run, lease, [{ seq: 1, atMs: T0 }], []);
  const entry = { remoteId: `new ${id}`, name };
  await journal.commitOperations(run, lease, [], [result(1, { reason: message, entry })]);
  const named = [entryKey('skill', id)];
  const commit = { sha: id, committedAt: '2026-01-01' };
  await journal.rememberApplied(lease, {
    runId: run,
    remoteAccountId: '42',
    named,
    released: { entries: [], run: null },
    commit,
  });
  await operator.operate({ action: 'pause', account, reason: message }, { name, via: 'cli' }, T0);
  const notice = { id: run, runId: run, type: 'failed', commit: id, body: message } as const;
  await outbox.notify(account, [target], () => ({ notified: null, notices: [notice] }), T0);
  await journal.endRun(run, {
    status: 'failed',
    finishedAtMs: T0,
    counts: null,
    traffic: { requests: 1, retries: 0 },
    planDigest: null,
    errorCode: 'unavailable',
    error: message,
    warnings: [{ code: 'near', message }],
  });

  const detail = await reader.run(run);
  expect(detail?.operations).toMatchObject([
    { name: other, remoteId: entry.remoteId, reason: message },
    { name, remoteId: id, reason: message },
  ]);
  expect(detail).toMatchObject({ run: { error: message }, warnings: [{ message }] });
  const history = await journal.accountHistory(account, '42', observed(), T0 - 1);
  expect(history.lastGood?.observed.skill).toMatchObject([{ id, name }]);
  const created = entryKey('skill', entry.remoteId);
  expect([...history.owned].toSorted()).toEqual([created, ...named].toSorted());
  expect(history.changedNames.get(created)?.requested).toBe(other === name ? undefined : other);
  expect(history.recent).toMatchObject([{ name: other, remoteId: entry.remoteId }]);
  const others = {
    account: 'other',
    remoteAccountId: '42',
    configured: new Set([account]),
    identified: true,
  };
  expect(await journal.foreignOwner({ ...others, listed: { skill: [{ id }], role: [] } })).toEqual({
    account,
    remoteAccountId: '42',
  });
  const state = await journal.accountState(account);
  expect(state).toMatchObject({ pause: { by: name, reason: message }, lastAppliedCommit: { sha: id } });
  const { messages } = await outbox.takeDue(target, { messages: 9, collectMs: 0 }, T0);
  expect(messages).toMatchObject([[{ account, commit: id, body: message }]]);
  for (const each of messages) await outbox.settle(each, { type: 'undelivered', reason: message }, T0);
  await store.locks.release(lease);
}

it('every text is read as it was written, whichever method stores it', async () => {
  const store = await fixture();
  let n = 0;
  await fc.assert(
    fc.asyncProperty(texts, (each) => roundTrip(store, (n += 1), each)),
    { numRuns: times(15, 40) },
  );
});
