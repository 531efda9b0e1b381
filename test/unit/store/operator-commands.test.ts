// Approvals, pauses and requested runs are recorded with their operator.
import { expect, it } from 'vitest';
import type { Operator } from '../../../src/core/operator.ts';
import { fixture, runId, T0 } from './fixture.ts';

const SAM: Operator = { name: 'sam', via: 'cli' };
const CI: Operator = { name: 'ci', via: 'http' };
const DAY_MS = 86_400_000;

const at = (ms: number): string => new Date(T0 + ms).toISOString();

it('records who gave which command, newest first', async () => {
  const { operator, reader } = await fixture();
  await operator.operate({ action: 'pause', account: 'acme', reason: 'migration' }, SAM, T0);
  await operator.operate({ action: 'sync', account: 'acme' }, CI, T0 + 1000);
  await operator.operate({ action: 'resume', account: 'acme' }, SAM, T0 + 2000);
  await operator.operate({ action: 'sync', account: 'other' }, CI, T0 + 3000);
  await operator.operate({ action: 'fetch', account: '*' }, CI, T0 + 4000);
  const account = 'acme';
  expect(await reader.operatorActions({ account: 'acme', limit: 10 })).toEqual([
    { seq: 3, account, at: at(2000), action: 'resume', by: 'sam', via: 'cli', detail: null },
    { seq: 2, account, at: at(1000), action: 'sync', by: 'ci', via: 'http', detail: null },
    { seq: 1, account, at: at(0), action: 'pause', by: 'sam', via: 'cli', detail: 'migration' },
  ]);
  const seqs = async (filter: object) =>
    (await reader.operatorActions({ limit: 10, ...filter })).map(({ seq }) => seq);
  expect(await seqs({})).toEqual([5, 4, 3, 2, 1]);
  expect(await seqs({ limit: 1 })).toEqual([5]);
  expect(await seqs({ after: 3 })).toEqual([5, 4]);
  expect(await seqs({ before: 3 })).toEqual([2, 1]);
  expect(await seqs({ sinceMs: T0 + 3000 })).toEqual([5, 4]);
  expect(await seqs({ account: ['acme', '*'] })).toEqual([5, 3, 2, 1]);
});

it('returns since when, by whom and why an account is paused, until it is resumed', async () => {
  const { operator, journal } = await fixture();
  await operator.operate({ action: 'pause', account: 'acme', reason: 'migration' }, SAM, T0);
  expect((await journal.accountState('acme')).pause).toEqual({ sinceMs: T0, by: 'sam', reason: 'migration' });
  await operator.operate({ action: 'resume', account: 'acme' }, SAM, T0 + 1000);
  expect((await journal.accountState('acme')).pause).toBeNull();
});

it('keeps since when, by whom and why when a pause is repeated', async () => {
  const { operator, journal } = await fixture();
  await operator.operate({ action: 'pause', account: 'acme', reason: 'migration' }, SAM, T0);
  await operator.operate({ action: 'pause', account: 'acme' }, CI, T0 + 1000);
  expect((await journal.accountState('acme')).pause).toEqual({ sinceMs: T0, by: 'sam', reason: 'migration' });
  await operator.operate({ action: 'pause', account: 'acme', reason: 'audit' }, CI, T0 + 2000);
  expect((await journal.accountState('acme')).pause).toEqual({ sinceMs: T0, by: 'sam', reason: 'audit' });
});

it('records no approval where no plan waits', async () => {
  const { operator, reader } = await fixture();
  expect(await operator.operate({ action: 'approve', account: 'acme' }, SAM, T0)).toEqual({
    type: 'nothing_pending',
  });
  expect(await reader.operatorActions({ limit: 10 })).toEqual([]);
});

it('deletes commands that are older than the runs that are kept', async () => {
  const store = await fixture();
  const { operator, reader } = store;
  await operator.operate({ action: 'sync', account: 'acme' }, CI, T0);
  await operator.operate({ action: 'sync', account: 'acme' }, SAM, T0 + 5 * DAY_MS);
  const retention = 4 * DAY_MS;
  await store.prune(retention, T0 + 6 * DAY_MS);
  expect((await reader.operatorActions({ limit: 10 })).map(({ by }) => by)).toEqual(['sam']);
});

it('pauses all accounts until the pause ends, is replaced or is resumed, and records who did that', async () => {
  const { operator, reader } = await fixture();
  expect(await operator.resumeAll(SAM, T0)).toBeNull();
  const first = { sinceMs: T0, by: 'sam', reason: 'migration', untilMs: T0 + 5000, onlyDeletes: false };
  const pausing = { reason: 'migration', onlyDeletes: false, forMs: 5000 };
  expect(await operator.pauseAll(pausing, SAM, T0)).toEqual(first);
  expect([await reader.pauseOfAll(T0 + 4999), await reader.pauseOfAll(T0 + 5000)]).toEqual([first, null]);
  expect(await operator.resumeAll(SAM, T0 + 5000)).toBeNull();
  await operator.pauseAll({ reason: 'audit', onlyDeletes: true, forMs: null }, CI, T0 + 6000);
  const second = { sinceMs: T0 + 6000, by: 'ci', reason: 'audit', untilMs: null, onlyDeletes: true };
  expect(await reader.pauseOfAll(T0 + 1e12)).toEqual(second);
  expect(await operator.resumeAll(SAM, T0 + 7000)).toEqual(second);
  expect(await reader.pauseOfAll(T0 + 7000)).toBeNull();
  const actions = await reader.operatorActions({ limit: 10 });
  expect(actions.map(({ account, action, by, detail }) => [account, action, by, detail])).toEqual([
    ['*', 'resume', 'sam', null],
    ['*', 'pause', 'ci', 'audit, only deletes'],
    ['*', 'pause', 'sam', 'migration, until 2026-03-10 12:00:05 UTC'],
  ]);
});

it('returns the pause of all accounts with each commit of sent operations, and commits them', async () => {
  const store = await fixture();
  const lease = await store.take(runId(1));
  const id = await store.begin(1);
  const row = {
    kind: 'skill',
    action: 'create',
    name: 'Go',
    remoteId: null,
    rule: null,
    reason: null,
  } as const;
  await store.journal.addOperations(id, [{ ...row, status: 'pending' }]);
  const commit = (atMs: number) => store.journal.commitOperations(id, lease, [{ seq: 1, atMs }], []);
  const pause = await store.operator.pauseAll({ reason: 'x', onlyDeletes: false, forMs: 10 }, SAM, T0);
  expect(await commit(T0)).toEqual(pause);
  expect(store.rows('select status from operations')).toEqual([{ status: 'sent' }]);
  expect(await commit(T0 + 10)).toBe('committed');
});
