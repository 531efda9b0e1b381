// What makes an account due, and who takes it: two openings of one store are two replicas.
import { expect, it } from 'vitest';
import type { DueAccount, Tick } from '../../../src/core/ports/locks.ts';
import { fixture, type Fixture, openAgain, runId, T0 } from './fixture.ts';

const MINUTE_MS = 60_000;
const ANN = { name: 'ann', via: 'http' } as const;

const dueOf = async (store: Fixture, nowMs: number): Promise<readonly DueAccount[]> =>
  (await store.due.due(nowMs)).accounts;

/** The accounts that are due with their reasons, as texts. */
const reasons = async (store: Fixture, nowMs: number): Promise<string[]> =>
  (await dueOf(store, nowMs)).map(
    ({ account, trigger, by }) => `${account}: ${trigger}${by === null ? '' : ` by ${by}`}`,
  );

/** Takes the only account that is due. */
async function take(store: Fixture, n: number, nowMs: number) {
  const [due] = await dueOf(store, nowMs);
  if (due === undefined) throw new Error('nothing is due');
  const lease = await store.locks.take(due, runId(n), nowMs);
  if (lease === null) throw new Error('it was taken');
  return lease;
}

const tick = (tickMs: number, of: Partial<Tick> = {}): Tick => ({
  account: 'acme',
  tickMs,
  dueMs: tickMs,
  trigger: 'schedule',
  ...of,
});

/** A store in which a daemon knows the account, which is not due any more. */
async function known(): Promise<Fixture> {
  const store = await fixture();
  await store.due.appear(['acme'], T0);
  await store.locks.release(await take(store, 1, T0));
  expect(await reasons(store, T0)).toEqual([]);
  return store;
}

it('an account that no daemon knows is due once, also if a command has used it', async () => {
  const store = await fixture();
  await store.begin(1);
  const other = await openAgain(store);
  await store.due.appear(['acme', 'beta'], T0);
  expect(await reasons(other, T0)).toEqual(['acme: start', 'beta: start']);
  for (const due of await dueOf(store, T0)) await store.locks.take(due, runId(2), T0);
  await other.due.appear(['acme', 'beta'], T0 + 1);
  expect(store.rows('select name from accounts where due_at is not null')).toEqual([]);
  expect((await other.due.ticked()).get('acme')).toBe(T0);
  await other.close();
});

it('a tick that several replicas notice makes an account due once, after its jitter', async () => {
  const store = await known();
  const other = await openAgain(store);
  const tickMs = T0 + MINUTE_MS;
  expect(await store.due.tick([tick(tickMs, { dueMs: tickMs + 5000 })], tickMs)).toEqual([]);
  await other.due.tick([tick(tickMs, { dueMs: tickMs + 2000 })], tickMs);
  expect(await reasons(store, tickMs + 4999)).toEqual([]);
  const lease = await take(other, 2, tickMs + 5000);
  await other.due.tick([tick(tickMs)], tickMs + 6000);
  await other.locks.release(lease);
  await store.due.tick([tick(tickMs), tick(tickMs - 5000)], tickMs + 7000);
  expect(await reasons(store, tickMs + MINUTE_MS)).toEqual([]);
  await other.close();
});

it('a tick during a run is skipped, by one of the replicas', async () => {
  const store = await known();
  const other = await openAgain(store);
  const lease = await store.take(runId(2), T0);
  expect(await store.due.tick([tick(T0 + 1000)], T0 + 1000)).toEqual(['acme']);
  expect(await other.due.tick([tick(T0 + 1000)], T0 + 1000)).toEqual([]);
  await store.locks.release(lease);
  expect(await reasons(store, T0 + MINUTE_MS)).toEqual([]);
  await other.close();
});

it('a tick and a time that lie in the future, because the clock was set back, count as past', async () => {
  const store = await known();
  await store.due.tick([tick(T0 + 60 * MINUTE_MS)], T0 + 60 * MINUTE_MS);
  expect(await reasons(store, T0)).toEqual(['acme: schedule']);
  await take(store, 2, T0);
  store.execute('update accounts set lease_holder = null, lease_until = null, lease_run = null');
  await store.due.tick([tick(T0 + MINUTE_MS)], T0 + MINUTE_MS);
  expect(await reasons(store, T0 + MINUTE_MS)).toEqual(['acme: schedule']);
});

it('one of several replicas takes what is due', async () => {
  const store = await known();
  const other = await openAgain(store);
  await store.operator.operate({ action: 'sync', account: 'acme' }, ANN, T0);
  const [[mine], [theirs]] = [await dueOf(store, T0), await dueOf(other, T0)];
  if (mine === undefined || theirs === undefined) throw new Error('it is not due');
  expect(await store.locks.take(mine, runId(2), T0)).toMatchObject({ account: 'acme', runId: runId(2) });
  expect(await other.locks.take(theirs, runId(3), T0)).toBeNull();
  await store.locks.release({ account: 'acme', runId: runId(2) });
  // The run that it was due for has been made.
  expect(await other.locks.take(theirs, runId(3), T0)).toBeNull();
  await other.close();
});

it('a sync during a run is followed by exactly one more, and a command that takes the lease leaves it due', async () => {
  const store = await known();
  await store.operator.operate({ action: 'sync', account: 'acme' }, ANN, T0);
  const lease = await take(store, 2, T0);
  for (const atMs of [1, 2])
    await store.operator.operate({ action: 'sync', account: 'acme' }, ANN, T0 + atMs);
  expect(await reasons(store, T0 + 3)).toEqual([]);
  await store.locks.release(lease);
  const command = await store.take(runId(3), T0 + 4);
  await store.locks.release(command);
  expect(await reasons(store, T0 + 5)).toEqual(['acme: manual by ann']);
  await store.locks.release(await take(store, 4, T0 + 5));
  expect(await reasons(store, T0 + 6)).toEqual([]);
});

it('the lease of a process that died makes its account due when it ends, and its run is interrupted', async () => {
  const store = await known();
  const { leaseMs } = store.locks;
  const taken = await store.take(runId(2), T0);
  const id = await store.begin(2, { mode: 'plan' });
  store.execute("update accounts set lease_holder = '1 elsewhere||'");
  expect(await reasons(store, T0 + leaseMs - 1)).toEqual([]);
  expect(await reasons(store, T0 + leaseMs)).toEqual(['acme: start']);
  await take(store, 3, T0 + leaseMs);
  expect(store.rows('select status from runs where id = ?', id)).toEqual([{ status: 'interrupted' }]);
  expect((await store.locks.renew([taken.runId], T0 + leaseMs)).held).toEqual(new Set());
});

it('an account stays due when the broken run of its last holder cannot be ended', async () => {
  const store = await known();
  await store.take(runId(2), T0);
  await store.begin(2);
  store.execute("update accounts set lease_until = '2026-01-01T00:00:00.000Z'");
  const repair = store.failOn('runs', 'update');
  await expect(take(store, 3, T0)).rejects.toThrow('no space');
  repair();
  await take(store, 4, Date.now());
  expect(store.rows('select status from runs')).toEqual([{ status: 'interrupted' }]);
});

it('a lease that is given back by an interrupted run leaves the account due for the same reason', async () => {
  const store = await known();
  await store.operator.operate({ action: 'sync', account: 'acme' }, ANN, T0);
  const lease = await take(store, 2, T0);
  await store.locks.release(lease, { trigger: 'manual', by: 'ann' });
  expect(await reasons(store, Date.now())).toEqual(['acme: manual by ann']);
  await store.locks.release(lease, { trigger: 'manual', by: 'ann' });
});

it('a request of an operator replaces another reason, and nothing replaces a sync', async () => {
  const store = await known();
  await store.due.tick([tick(T0 + 1000)], T0 + 1000);
  expect(await reasons(store, T0 + 1000)).toEqual(['acme: schedule']);
  await store.operator.operate({ action: 'sync', account: 'acme' }, ANN, T0 + 2000);
  await store.due.tick([tick(T0 + 3000)], T0 + 3000);
  await store.operator.operate({ action: 'resume', account: 'acme' }, { name: 'ben', via: 'cli' }, T0 + 4000);
  expect(await reasons(store, T0 + 5000)).toEqual(['acme: manual by ann']);
  expect(store.rows('select due_at from accounts')).toEqual([{ due_at: new Date(T0 + 1000).toISOString() }]);
});

it('a paused account is due for a sync only, and for its ticks when it is resumed', async () => {
  const store = await known();
  await store.operator.operate({ action: 'pause', account: 'acme' }, ANN, T0);
  await store.due.tick([tick(T0 + 1000)], T0 + 1000);
  expect(await reasons(store, T0 + 2000)).toEqual([]);
  await store.operator.operate({ action: 'resume', account: 'acme' }, ANN, T0 + 3000);
  expect(await reasons(store, T0 + 4000)).toEqual(['acme: resume by ann']);
  await store.operator.operate({ action: 'pause', account: 'acme' }, ANN, T0 + 5000);
  await store.operator.operate({ action: 'sync', account: 'acme' }, ANN, T0 + 6000);
  expect(await reasons(store, T0 + 7000)).toEqual(['acme: manual by ann']);
});

it('the end of a pause of all accounts makes them due once, by an operator or by its time', async () => {
  const store = await known();
  const other = await openAgain(store);
  const pause = { reason: 'maintenance', onlyDeletes: false };
  await store.operator.pauseAll({ ...pause, forMs: null }, ANN, T0);
  await store.due.endPause(T0 + MINUTE_MS);
  expect(await reasons(store, T0 + MINUTE_MS)).toEqual([]);
  await store.operator.resumeAll(ANN, T0 + MINUTE_MS);
  expect(await reasons(store, T0 + MINUTE_MS)).toEqual(['acme: resume by ann']);
  await store.locks.release(await take(store, 2, T0 + MINUTE_MS));
  await store.operator.pauseAll({ ...pause, forMs: MINUTE_MS }, ANN, T0);
  for (const replica of [store, other]) await replica.due.endPause(T0 + MINUTE_MS - 1);
  expect(await reasons(store, T0 + MINUTE_MS - 1)).toEqual([]);
  await store.due.endPause(T0 + MINUTE_MS);
  expect(await reasons(other, T0 + MINUTE_MS)).toEqual(['acme: resume']);
  await store.locks.release(await take(store, 3, T0 + MINUTE_MS));
  await other.due.endPause(T0 + MINUTE_MS + 1);
  expect(await reasons(store, T0 + 2 * MINUTE_MS)).toEqual([]);
  await other.close();
});

it('an account is due when its files differ from those of its last run, which only a run ends', async () => {
  const store = await known();
  await store.begin(2);
  await store.due.change([{ account: 'acme', digest: 'sha256:c' }], T0);
  expect(await reasons(store, T0)).toEqual([]);
  await store.due.change([{ account: 'acme', digest: 'sha256:other' }], T0);
  expect(await reasons(store, T0)).toEqual(['acme: change']);
  // A replica with the old files makes the run; the change is not lost.
  const lease = await take(store, 3, T0);
  await store.due.change([{ account: 'acme', digest: 'sha256:other' }], T0);
  await store.locks.release(lease);
  expect(await reasons(store, T0)).toEqual(['acme: change']);
});

it('those are first that are due longest', async () => {
  const store = await fixture();
  await store.due.appear(['a', 'b', 'c'], T0);
  for (const due of await dueOf(store, T0))
    await store.locks.release({
      account: due.account,
      runId: (await store.locks.take(due, runId(1), T0))?.runId ?? '',
    });
  const at = (account: string, ms: number) => tick(T0 + ms, { account });
  await store.due.tick([at('a', 3000), at('b', 1000), at('c', 2000)], T0 + 3000);
  expect((await dueOf(store, T0 + 3000)).map(({ account }) => account)).toEqual(['b', 'c', 'a']);
});
