// Two accounts that use one token at the same moment, or whose lists show the same entry.
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Lease } from '../../../src/core/ports/locks.ts';
import type { Store } from '../../../src/store/store.ts';
import { type Fixture, fixture, listed, openAgain, runId } from './fixture.ts';

const LEASE_MS = 30_000;

const KEY = 'digest-of-a-token';

/** The account that uses the token already, or null. */
async function userOf({ journal }: Pick<Store, 'journal'>, lease: Lease, key = KEY): Promise<string | null> {
  const claim = await journal.claimToken(lease, key);
  return 'usedBy' in claim ? claim.usedBy : null;
}

it('one of two accounts that claim a token at once gets it, across openings of the store', async () => {
  const store = await fixture();
  const other = await openAgain(store);
  onTestFinished(() => other.close());
  const now = Date.now();
  const [one, two] = [await store.take(runId(1), now, 'one'), await store.take(runId(2), now, 'two')];
  const claims = await Promise.all([userOf(store, one), userOf(other, two)]);
  expect(claims.filter((claimant) => claimant === null)).toHaveLength(1);
  expect(claims.find((claimant) => claimant !== null)).toBe(claims[0] === null ? 'one' : 'two');
});

it('an account can claim its own token again, and other tokens do not matter', async () => {
  const store = await fixture();
  const now = Date.now();
  const [one, two] = [await store.take(runId(1), now, 'one'), await store.take(runId(2), now, 'two')];
  expect(await userOf(store, one)).toBeNull();
  expect(await userOf(store, one)).toBeNull();
  expect(await userOf(store, two, 'another')).toBeNull();
});

it('a token is free when its run has ended or its holder is dead', async () => {
  const store = await fixture();
  const now = Date.now();
  const [one, two] = [await store.take(runId(1), now, 'one'), await store.take(runId(2), now, 'two')];
  await userOf(store, one);
  await store.locks.release(one);
  expect(await userOf(store, two)).toBeNull();

  store.execute("update accounts set lease_until = '2026-01-01T00:00:00.000Z' where name = 'two'");
  const again = await store.take(runId(3), now, 'one');
  expect(await userOf(store, again)).toBeNull();
  // Another holder of the lock must claim the token again.
  const after = await store.take(runId(4), now + LEASE_MS, 'two');
  expect(await userOf(store, after)).toBe('one');
});

it('a claim with a lost lock has no effect', async () => {
  const store = await fixture();
  const now = Date.now();
  const lost = await store.take(runId(1), now - 2 * LEASE_MS, 'one');
  await store.take(runId(2), now, 'one');
  await expect(userOf(store, lost)).rejects.toThrow(expect.objectContaining({ code: 'lock_lost' }));
  const two = await store.take(runId(3), now, 'two');
  expect(await userOf(store, two)).toBeNull();
});

describe('the owner of an entry', () => {
  const configured = new Set(['one', 'two']);
  const skill = (id: string) => ({ skill: [{ id }], role: [] });

  /** A store in which the latest good lists of account `one` show the skill s1. */
  async function storeOfOne(remote: string | null) {
    const store = await fixture();
    await see(store, 1, remote, ['s1']);
    return store;
  }

  async function see(store: Fixture, n: number, remote: string | null, ids: readonly string[], good = true) {
    const id = await store.begin(n, { account: 'one', remote });
    const lists = { skill: ids.map((each) => listed(each, each)) };
    await store.record(id, lists, { account: 'one', remoteAccountId: remote, good });
    await store.end(id, good ? 'converged' : 'blocked');
  }

  const two = { account: 'two', remoteAccountId: null, configured, identified: false };
  const one = { account: 'one', remoteAccountId: null };
  const one42 = { account: 'one', remoteAccountId: '42' };

  it('is another configured account whose latest lists show the entry', async () => {
    const { journal } = await storeOfOne(null);
    expect(await journal.foreignOwner({ ...two, listed: skill('s1') })).toEqual(one);
    expect(await journal.foreignOwner({ ...two, listed: skill('s2') })).toBeNull();
    // Ids are only known to be unique within a kind.
    expect(await journal.foreignOwner({ ...two, listed: { skill: [], role: [{ id: 's1' }] } })).toBeNull();
    expect(await journal.foreignOwner({ ...two, account: 'one', listed: skill('s1') })).toBeNull();
    const renamed = { ...two, configured: new Set(['two']) };
    expect(await journal.foreignOwner({ ...renamed, listed: skill('s1') })).toBeNull();
  });

  it('is nobody when rolecall deleted the entry or the latest good lists lack it', async () => {
    const store = await storeOfOne(null);
    await see(store, 2, null, [], false);
    expect(await store.journal.foreignOwner({ ...two, listed: skill('s1') })).toEqual(one);
    await see(store, 3, null, ['s2', 's3']);
    expect(await store.journal.foreignOwner({ ...two, listed: skill('s1') })).toBeNull();
    store.execute("update entries set deleted_by_run = 'x' where remote_id = 's2'");
    expect(await store.journal.foreignOwner({ ...two, listed: skill('s2') })).toBeNull();
    expect(await store.journal.foreignOwner({ ...two, listed: skill('s3') })).toEqual(one);
  });

  it('is nobody when both lists carry account ids, and these differ', async () => {
    const { journal } = await storeOfOne('42');
    const listed = skill('s1');
    expect(await journal.foreignOwner({ ...two, listed })).toEqual(one42);
    const identified = { ...two, identified: true, listed };
    expect(await journal.foreignOwner({ ...identified, remoteAccountId: '43' })).toBeNull();
    expect(await journal.foreignOwner({ ...identified, remoteAccountId: '42' })).toEqual(one42);
    // A pin that no list confirms shows nothing about the lists.
    expect(await journal.foreignOwner({ ...two, remoteAccountId: '43', listed })).toEqual(one42);
  });

  it('is an account whose lists carried no account id', async () => {
    const { journal } = await storeOfOne(null);
    const identified = { ...two, identified: true, remoteAccountId: '43' };
    expect(await journal.foreignOwner({ ...identified, listed: skill('s1') })).toEqual(one);
  });
});
