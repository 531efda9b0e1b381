// Two accounts that use one token at the same moment.
import { expect, it, onTestFinished } from 'vitest';
import { sqliteEngine } from '../../../src/store/sqlite/sqlite-engine.ts';
import { fixture, openAgain, runId } from './fixture.ts';

const LEASE_MS = sqliteEngine.leaseMs;

const KEY = 'digest-of-a-token';

it('one of two accounts that claim a token at once gets it, across openings of the store', async () => {
  const store = await fixture();
  const other = await openAgain(store);
  onTestFinished(() => other.close());
  const now = Date.now();
  const [one, two] = [await store.take(runId(1), now, 'one'), await store.take(runId(2), now, 'two')];
  const claims = await Promise.all([store.journal.claimToken(one, KEY), other.journal.claimToken(two, KEY)]);
  expect(claims.filter((claimant) => claimant === null)).toHaveLength(1);
  expect(claims.find((claimant) => claimant !== null)).toBe(claims[0] === null ? 'one' : 'two');
});

it('an account can claim its own token again, and other tokens do not matter', async () => {
  const store = await fixture();
  const now = Date.now();
  const [one, two] = [await store.take(runId(1), now, 'one'), await store.take(runId(2), now, 'two')];
  expect(await store.journal.claimToken(one, KEY)).toBeNull();
  expect(await store.journal.claimToken(one, KEY)).toBeNull();
  expect(await store.journal.claimToken(two, 'another')).toBeNull();
});

it('a token is free when its run has ended or its holder is dead', async () => {
  const store = await fixture();
  const now = Date.now();
  const [one, two] = [await store.take(runId(1), now, 'one'), await store.take(runId(2), now, 'two')];
  await store.journal.claimToken(one, KEY);
  await store.locks.release(one);
  expect(await store.journal.claimToken(two, KEY)).toBeNull();

  store.execute("update locks set expires_at = '2026-01-01T00:00:00.000Z' where account = 'two'");
  const again = await store.take(runId(3), now, 'one');
  expect(await store.journal.claimToken(again, KEY)).toBeNull();
  // Another holder of the lock must claim the token again.
  const after = await store.take(runId(4), now + LEASE_MS, 'two');
  expect(await store.journal.claimToken(after, KEY)).toBe('one');
});

it('a claim with a lost lock has no effect', async () => {
  const store = await fixture();
  const now = Date.now();
  const lost = await store.take(runId(1), now - 2 * LEASE_MS, 'one');
  await store.take(runId(2), now, 'one');
  expect(await store.journal.claimToken(lost, KEY)).toBeNull();
  const two = await store.take(runId(3), now, 'two');
  expect(await store.journal.claimToken(two, KEY)).toBeNull();
});
