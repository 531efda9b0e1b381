// What the store remembers of an account: lists, entries, names, and what another remote account does not inherit.
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { Entry } from '../../../src/core/catalog.ts';
import type { AppliedRun } from '../../../src/core/ports/journal.ts';
import { entryKey } from '../../../src/core/usage.ts';
import { observed, person } from '../core/builders.ts';
import { BASE, DAY_MS, fixture, listed, operation, result, runId, T0 } from './fixture.ts';

const RELEASED = { kind: 'skill', remoteId: 'a', allowance: '2026-12-31 A' } as const;

describe('snapshots', () => {
  it('contain the service’s own fields, compressed, in an order that does not depend on the lists', async () => {
    const store = await fixture();
    const id = await store.begin(1);
    await store.record(id, {
      skill: [listed('b', 'B', { colour: 'red' }), listed('a', 'A', { createDate: 'x' })],
      resources: [person('p', ['a'], null)],
    });
    const rows = store.rows<{ kind: string; phase: string; entries: number; body: Uint8Array }>(
      'select kind, phase, entries, body from snapshots join snapshot_bodies using (digest) order by snapshots.id',
    );
    expect(rows.map(({ kind, phase, entries }) => [kind, phase, entries])).toEqual([
      ['skill', 'before', 2],
      ['role', 'before', 0],
      ['resource', 'before', 1],
    ]);
    const lists = rows.map(({ body }) => JSON.parse(gunzipSync(body).toString('utf8')) as unknown);
    expect(lists).toEqual([
      [
        { _id: 'a', name: 'A', createDate: 'x' },
        { _id: 'b', name: 'B', colour: 'red' },
      ],
      [],
      [{ _id: 'p', skillsIds: ['a'], roleId: null }],
    ]);
  });

  it('are stored once for each digest', async () => {
    const store = await fixture();
    const skill = [listed('a', 'A'), listed('b', 'B')];
    await store.record(await store.begin(1), { skill });
    await store.record(await store.begin(2), { skill: skill.toReversed() });
    const [counts] = store.rows<{ snapshots: number; bodies: number }>(
      'select (select count(*) from snapshots) as snapshots, (select count(*) from snapshot_bodies) as bodies',
    );
    // Empty lists of roles and of people are one body too.
    expect(counts).toEqual({ snapshots: 6, bodies: 2 });
  });
});

describe('equal lists', () => {
  const skill = [listed('a', 'A'), listed('b', 'B')];
  const lists = { skill, resources: [person('p', ['a'])] };
  const seenBy = (id: string, hours: number) => [
    { remote_id: 'a', name: 'A', seen: id, used: new Date(T0 + hours * 3_600_000).toISOString() },
    { remote_id: 'b', name: 'B', seen: id, used: null },
  ];
  const SEEN = 'select remote_id, name, last_seen_run as seen, last_used_at as used from entries order by 1';

  it('mark every entry as seen, and as used those that somebody has', async () => {
    const store = await fixture();
    for (const n of [1, 2, 3]) {
      const id = await store.begin(n);
      await store.record(id, lists, { takenAtMs: T0 + n * 3_600_000 });
      expect(store.rows(SEEN)).toEqual(seenBy(id, n));
    }
  });

  it('of before do not hide what other lists have shown since', async () => {
    const store = await fixture();
    await store.record(await store.begin(1), lists);
    await store.record(await store.begin(2), { ...lists, skill: [listed('a', 'Z')] }, { good: false });
    const id = await store.begin(3);
    await store.record(id, lists, { takenAtMs: T0 + 3_600_000 });
    expect(store.rows(SEEN)).toEqual(seenBy(id, 1));
  });
});

describe('the last good lists', () => {
  const lists = observed({ skill: [listed('a', 'A')], resources: [person('p', ['a'])] });

  it('are those of the latest good observation', async () => {
    const store = await fixture();
    await store.record(await store.begin(1), lists);
    await store.record(await store.begin(2), {}, { good: false });
    const last = (await store.history('acme', '42')).lastGood;
    expect(last?.observed.skill).toMatchObject([{ id: 'a', name: 'A' }]);
    expect(last?.observed.resources).toMatchObject([{ id: 'p', skillsIds: ['a'] }]);
  });

  it('do not exist before the first run, for another account, and after the remote account changed', async () => {
    const store = await fixture();
    expect((await store.history('acme', '42')).lastGood).toBeNull();
    await store.record(await store.begin(1), lists);
    expect((await store.history('other', '42')).lastGood).toBeNull();
    await store.begin(2, { remote: '43' });
    expect((await store.history('acme', '43')).lastGood).toBeNull();
  });

  it('include what rolecall has deleted since, or may have deleted', async () => {
    const store = await fixture();
    const lease = await store.take(runId(1));
    const id = await store.begin(1);
    await store.record(id, { skill: ['a', 'b', 'c', 'd'].map((each) => listed(each, each)) });
    const deletes = ['a', 'b', 'c', 'd'].map((each) =>
      operation({ action: 'delete', name: each, remoteId: each }),
    );
    const results = [result(1), result(2, { status: 'unknown' }), result(3, { status: 'failed' })];
    await store.operate(id, lease, deletes, results);
    const last = (await store.history('acme', '42')).lastGood;
    expect([...(last?.deletedSince ?? [])].toSorted()).toEqual(['skill:a', 'skill:b']);
  });
});

describe('a remote account', () => {
  it('that replaces another one under the same name inherits no ownership, approval, throttling or applied commit', async () => {
    const store = await fixture();
    const lease = await store.take(runId(1));
    const id = await store.begin(1);
    await store.record(id, { skill: [listed('a', 'A')] });
    const commit = { sha: 'abc', committedAt: '2026-01-01T00:00:00Z' };
    const named = [entryKey('skill', 'a')];
    await store.apply(id, lease, { named, commit });
    await store.journal.rememberThrottle('acme', T0 + 1);
    store.execute(
      "update accounts set approved_digest = 'd', approved_at = '2026-01-01', pending_digest = 'd'",
    );
    await store.end(id);
    expect((await store.history('acme', '42')).owned.size).toBe(1);

    await store.begin(2, { remote: '43' });
    expect(await store.journal.accountState('acme')).toEqual({
      remoteAccountId: '43',
      pause: null,
      throttledUntilMs: null,
      lastAppliedCommit: null,
      releasedRuns: new Map(),
      pending: null,
      approval: null,
      consecutiveFailures: 0,
    });
    const memory = await store.history('acme', '43');
    expect(memory.owned.size).toBe(0);
    expect(store.rows('select approved_digest, pending_digest from accounts')).toEqual([
      { approved_digest: null, pending_digest: null },
    ]);
  });

  it('inherits what was journaled while its id was unknown', async () => {
    const store = await fixture();
    const lease = await store.take(runId(1));
    const id = await store.begin(1, { remote: null });
    await store.record(id, { skill: [listed('a', 'A')] }, { remoteAccountId: null });
    const named = [entryKey('skill', 'a')];
    await store.apply(id, lease, { remoteAccountId: null, named });
    await store.journal.claimRemoteAccount({
      runId: id,
      account: 'acme',
      baseUrl: BASE,
      remoteAccountId: '42',
      configured: new Set(),
    });
    expect([...(await store.history('acme', '42')).owned]).toEqual(['skill:a']);
    expect((await store.reader.run(id))?.run.remoteAccountId).toBe('42');
  });

  it('belongs to the first configured account of an address that claims it', async () => {
    const store = await fixture();
    const claim = async (
      n: number,
      account: string,
      more: { baseUrl?: string; configured?: string[] } = {},
    ) => {
      const id = await store.begin(n, { account, remote: null });
      const { baseUrl = BASE, configured = ['one', 'two'] } = more;
      const claimed = { runId: id, account, baseUrl, remoteAccountId: '42', configured: new Set(configured) };
      return await store.journal.claimRemoteAccount(claimed);
    };
    expect(await claim(1, 'one')).toBeNull();
    expect(await claim(2, 'two')).toBe('one');
    expect((await store.journal.accountState('two')).remoteAccountId).toBeNull();
    expect(await claim(3, 'one')).toBeNull();
    expect(await claim(4, 'two', { baseUrl: 'https://us.example.com' })).toBeNull();
    expect(await claim(5, 'three', { configured: ['two', 'three'] })).toBeNull();
  });

  it('is claimed by exactly one of two simultaneous runs', async () => {
    const store = await fixture();
    const ids = [
      await store.begin(1, { account: 'one', remote: null }),
      await store.begin(2, { account: 'two', remote: null }),
    ];
    const claim = { baseUrl: BASE, remoteAccountId: '42', configured: new Set(['one', 'two']) };
    const answers = await Promise.all(
      ids.map((runOf, index) =>
        store.journal.claimRemoteAccount({ ...claim, runId: runOf, account: index === 0 ? 'one' : 'two' }),
      ),
    );
    expect(answers.filter((answer) => answer === null)).toHaveLength(1);
  });
});

describe('an entry that a line of allowedDeletes released', () => {
  it('is remembered with the line, and with the run that deleted it', async () => {
    const store = await fixture();
    const lease = await store.take(runId(1));
    const id = await store.begin(1);
    await store.record(id, { skill: [listed('a', 'A'), listed('b', 'B')], role: [listed('a', 'A')] });
    expect(await store.apply(id, lease, { released: { entries: [RELEASED], run: null } })).toBe('committed');
    const released = async (remote = '42') => (await store.history('acme', remote)).released;
    expect(await released()).toEqual([{ ...RELEASED, deletedByRun: null }]);
    expect(await released('43')).toEqual([]);
    const ofA = operation({ action: 'delete', name: 'A', remoteId: 'a' });
    await store.operate(id, lease, [ofA], [result(1)]);
    expect(await released()).toEqual([{ ...RELEASED, deletedByRun: id }]);
  });

  it('is not remembered by a process that has lost the lock', async () => {
    const store = await fixture();
    const lease = await store.take(runId(1));
    const id = await store.begin(1);
    await store.record(id, { skill: [listed('a', 'A')] });
    await store.locks.release(lease);
    expect(await store.apply(id, lease, { released: { entries: [RELEASED], run: null } })).toBe('lock_lost');
    expect((await store.history('acme', '42')).released).toEqual([]);
  });
});

describe('a run that a line of allowedDeletes released', () => {
  it('is remembered with the line, beside those before it', async () => {
    const store = await fixture();
    const lines = ['2026-12-31 40', '2027-01-31 7'];
    for (const [index, run] of lines.entries()) {
      const lease = await store.take(runId(index + 1));
      const id = await store.begin(index + 1);
      expect(await store.apply(id, lease, { released: { entries: [], run } })).toBe('committed');
      await store.end(id);
    }
    const { releasedRuns } = await store.journal.accountState('acme');
    expect([...releasedRuns]).toEqual(lines.map((line, index) => [line, runId(index + 1)]));
  });
});

describe('an account whose file was renamed', () => {
  const claimOf = (id: string, account: string, configured: readonly string[] = [account]) =>
    ({ runId: id, account, baseUrl: BASE, remoteAccountId: '42', configured: new Set(configured) }) as const;

  /** An account “old” with a run, a snapshot, an entry of its own, a released run and a pause. */
  async function renamed() {
    const store = await fixture();
    const lease = await store.take(runId(1), Date.now(), 'old');
    const id = await store.begin(1, { account: 'old' });
    await store.record(id, { skill: [listed('a', 'A')] }, { account: 'old' });
    await store.apply(id, lease, {
      named: [entryKey('skill', 'a')],
      released: { entries: [RELEASED], run: '2026-12-31 40' },
    });
    await store.end(id);
    store.execute("update accounts set paused = 1, last_applied_commit = 'c0ffee' where name = 'old'");
    return store;
  }

  it('keeps its journal under the new name', async () => {
    const store = await renamed();
    const id = await store.begin(2, { account: 'new', remote: null });
    expect(await store.journal.adoptRenamedAccount(claimOf(id, 'new'))).toBe('old');
    const state = await store.journal.accountState('new');
    expect([state.remoteAccountId, state.pause !== null, state.lastAppliedCommit?.sha]).toEqual([
      '42',
      true,
      'c0ffee',
    ]);
    const memory = await store.history('new', '42');
    expect([...memory.owned]).toEqual(['skill:a']);
    expect(memory.released).toEqual([{ ...RELEASED, deletedByRun: null }]);
    const last = (await store.history('new', '42')).lastGood;
    expect(last?.observed.skill).toMatchObject([{ id: 'a' }]);
    expect([...state.releasedRuns.keys()]).toEqual(['2026-12-31 40']);
    expect(store.rows('select name, last_run_id from accounts')).toEqual([{ name: 'new', last_run_id: id }]);
    expect(store.rows("select 1 from runs where account = 'new'")).toHaveLength(2);
    expect(await store.journal.adoptRenamedAccount(claimOf(id, 'new'))).toBeNull();
  });

  it.each<[string, string, readonly string[]]>([
    ['is still configured under its old name too', 'new', ['new', 'old']],
    ['has an id of its own already', 'other', ['other']],
  ])('inherits nothing when it %s', async (_, account, configured) => {
    const store = await renamed();
    const id = await store.begin(2, { account, remote: account === 'other' ? '43' : null });
    expect(await store.journal.adoptRenamedAccount(claimOf(id, account, configured))).toBeNull();
    expect(store.rows("select 1 from runs where account = 'old'")).toHaveLength(1);
  });

  it('inherits nothing during a run of the old name, at another address, or with another id', async () => {
    const store = await renamed();
    const lease = await store.take(runId(2), Date.now(), 'old');
    const id = await store.begin(3, { account: 'new', remote: null });
    expect(await store.journal.adoptRenamedAccount(claimOf(id, 'new'))).toBeNull();
    await store.locks.release(lease);
    const claim = claimOf(id, 'new');
    expect(
      await store.journal.adoptRenamedAccount({ ...claim, baseUrl: 'https://us.example.com' }),
    ).toBeNull();
    expect(await store.journal.adoptRenamedAccount({ ...claim, remoteAccountId: '43' })).toBeNull();
    expect(await store.journal.adoptRenamedAccount({ ...claim, remoteAccountId: null })).toBeNull();
    expect(await store.journal.adoptRenamedAccount(claim)).toBe('old');
  });

  it('stays paused by whoever paused the new name', async () => {
    const store = await renamed();
    const id = await store.begin(2, { account: 'new', remote: null });
    await store.operator.operate(
      { action: 'pause', account: 'new', reason: 'mine' },
      { name: 'ada', via: 'cli' },
      T0,
    );
    expect(await store.journal.adoptRenamedAccount(claimOf(id, 'new'))).toBe('old');
    expect((await store.journal.accountState('new')).pause).toMatchObject({ by: 'ada', reason: 'mine' });
  });

  it('ends the killed run of the old name and takes its lock', async () => {
    const store = await renamed();
    const lease = await store.take(runId(2), Date.now(), 'old');
    const killed = await store.begin(2, { account: 'old' });
    await store.journal.addOperations(killed, [operation()]);
    await store.journal.commitOperations(killed, lease, [{ seq: 1, atMs: T0 }], []);
    store.execute("update accounts set lease_until = '2026-01-01T00:00:00.000Z'");
    const id = await store.begin(3, { account: 'new', remote: null });
    expect(await store.journal.adoptRenamedAccount(claimOf(id, 'new'))).toBe('old');
    expect((await store.reader.run(killed))?.run).toMatchObject({ account: 'new', status: 'interrupted' });
    expect((await store.history('new', '42')).unsettled).toMatchObject([{ runId: killed, name: 'New' }]);
    const woken = await store.journal.commitOperations(killed, lease, [{ seq: 1, atMs: T0 }], []);
    expect(woken).toBe('lock_lost');
  });
});

describe('ownership', () => {
  it('covers what rolecall created and adopted, and later runs do not change it', async () => {
    const store = await fixture();
    const lease = await store.take(runId(1));
    const id = await store.begin(1);
    await store.record(id, { skill: [listed('a', 'A'), listed('b', 'B')], role: [listed('a', 'A')] });
    const named = [entryKey('skill', 'a')];
    expect(await store.apply(id, lease, { named })).toBe('committed');
    const entry = { remoteId: 'r', name: 'New' };
    await store.operate(id, lease, [operation({ kind: 'role' })], [result(1, { entry })]);
    expect([...(await store.history('acme', '42')).owned].toSorted()).toEqual(['role:r', 'skill:a']);
    await store.end(id);
    const next = await store.take(runId(2));
    await store.apply(await store.begin(2), next, { named });
    expect(store.rows('select adopted_by_run from entries where adopted_by_run is not null')).toEqual([
      { adopted_by_run: id },
    ]);
  });
});

/** Rolecall created a skill with the id s1, which the service answered with this name. */
async function created(name: string, answered = name) {
  const store = await fixture();
  const lease = await store.take(runId(1));
  const id = await store.begin(1);
  const entry = { remoteId: 's1', name: answered };
  await store.operate(id, lease, [operation({ name })], [result(1, { entry })]);
  await store.end(id);
  /** Run `n` lists it under this name. */
  const list = async (n: number, shown: string) =>
    store.record(await store.begin(n), { skill: [listed('s1', shown)] });
  const history = () => store.history('acme', '42');
  return { store, list, history };
}

describe('the id of a deleted entry', () => {
  it('that is listed under another name belongs to somebody else from then on', async () => {
    const { list, history } = await created('Mine');
    for (const [n, name] of ['Mine', 'Theirs', 'Mine'].entries()) {
      await list(n + 2, name);
      expect([...(await history()).owned]).toEqual(n === 0 ? ['skill:s1'] : []);
    }
  });

  it('that is listed again is adopted when the file names it', async () => {
    const { store, list, history } = await created('Mine');
    await list(2, 'Mine');
    const lease = await store.take(runId(3));
    const id = await store.begin(3);
    const ofMine = operation({ action: 'delete', remoteId: 's1', name: 'Mine' });
    await store.operate(id, lease, [ofMine], [result(1)]);
    await store.end(id);
    await list(4, 'Mine');
    expect((await history()).knownNames.has('skill:s1')).toBe(false);
    const next = await store.take(runId(5));
    const again = await store.begin(5);
    expect(await store.apply(again, next, { named: [entryKey('skill', 's1')] })).toBe('committed');
    expect((await history()).knownNames.get('skill:s1')).toEqual(['Mine']);
    expect([...(await history()).owned]).toEqual(['skill:s1']);
  });
});

describe('the requested name', () => {
  const [ASKED, CHANGED] = ['Type Script', 'type script'];

  it.each([
    ['is remembered when the answer to the create shows another name', CHANGED, [], ASKED],
    ['is remembered while lists show that name', CHANGED, [CHANGED, CHANGED], ASKED],
    ['is remembered when the first list shows another name than the answer', ASKED, [CHANGED], ASKED],
    ['is not stored before a list shows another name', ASKED, [], undefined],
    ['is not stored when the service kept it', ASKED, [ASKED], undefined],
    ['is forgotten when somebody renames the entry later', CHANGED, [CHANGED, 'Else'], undefined],
    ['is remembered when the first list shows any other name', ASKED, ['Else'], ASKED],
    ['is not stored when somebody renames an unchanged entry later', ASKED, [ASKED, 'Else'], undefined],
  ])('%s', async (_, answered, lists, requested) => {
    const { list, history } = await created(ASKED, answered);
    for (const [n, name] of lists.entries()) await list(n + 2, name);
    expect((await history()).changedNames.get('skill:s1')?.requested).toBe(requested);
  });
});

describe('the known names', () => {
  it('are those of every entry that rolecall has not deleted, listed now or not', async () => {
    const store = await fixture();
    const lease = await store.take(runId(1));
    const id = await store.begin(1);
    await store.record(id, { skill: [listed('a', 'A'), listed('b', 'B')], role: [listed('a', 'Lead')] });
    const ofA = operation({ action: 'delete', remoteId: 'a', name: 'A' });
    const create = operation({ name: 'Type Script' });
    const results = [result(1), result(2, { entry: { remoteId: 'ts', name: 'type script' } })];
    await store.operate(id, lease, [ofA, create], results);
    await store.end(id);
    await store.record(await store.begin(2), {});
    const { knownNames } = await store.history('acme', '42');
    expect(Object.fromEntries(knownNames)).toEqual({
      'skill:b': ['B'],
      'role:a': ['Lead'],
      'skill:ts': ['type script', 'Type Script'],
    });
  });
});

describe('the time at which an entry was last in use', () => {
  it('is that of the last lists in which somebody has it', async () => {
    const store = await fixture();
    const lastUsed = async () => (await store.history('acme', '42')).lastUsedMs.get('skill:a');
    const list = async (n: number, people: readonly string[]) =>
      store.record(
        await store.begin(n),
        { skill: [listed('a', 'A')], resources: people.map((each) => person(each, ['a'])) },
        { takenAtMs: T0 + n },
      );
    await list(0, []);
    expect(await lastUsed()).toBeUndefined();
    await list(1, ['p']);
    expect(await lastUsed()).toBe(T0 + 1);
    await list(2, []);
    await list(3, []);
    expect(await lastUsed()).toBe(T0 + 1);
    await list(4, ['p']);
    await list(5, []);
    expect(await lastUsed()).toBe(T0 + 4);
  });
});

describe('the operations of the last day', () => {
  it('are those that ended within it, of this account and this remote account', async () => {
    const store = await fixture();
    const place = async (n: number, atMs: number, options = {}) => {
      const account = 'account' in options ? 'other' : 'acme';
      const lease = await store.take(runId(n), T0, account);
      const id = await store.begin(n, options);
      const entry = { remoteId: `s${n}`, name: 'x' };
      await store.operate(id, lease, [operation({ name: `n${n}` })], [result(1, { atMs, entry })]);
      await store.locks.release(lease);
    };
    await place(1, T0 - DAY_MS);
    await place(2, T0 - DAY_MS + 1);
    await place(3, T0, { account: 'other' });
    const memory = await store.history('acme', '42');
    expect(memory.recent).toEqual([
      {
        runId: runId(2),
        action: 'create',
        kind: 'skill',
        name: 'n2',
        remoteId: 's2',
        status: 'done',
        attempts: 1,
        finishedAtMs: T0 - DAY_MS + 1,
        listed: false,
      },
    ]);
    await store.record(await store.begin(4), { skill: [listed('s2', 'x')] });
    expect((await store.history('acme', '42')).recent).toMatchObject([{ name: 'n2', listed: true }]);
    expect((await store.history('acme', '43')).recent).toEqual([]);
  });
});

describe('creates with an unknown outcome', () => {
  async function unknownCreate(seenAfter: readonly Entry[] = []) {
    const store = await fixture();
    const lease = await store.take(runId(1));
    const id = await store.begin(1);
    await store.record(id, { skill: [listed('old', 'Old')] });
    await store.journal.addOperations(id, [operation()]);
    await store.journal.commitOperations(id, lease, [{ seq: 1, atMs: T0 }], []);
    await store.journal.commitOperations(id, lease, [], [result(1, { status: 'unknown', atMs: T0 + 7 })]);
    if (seenAfter.length > 0) await store.record(id, { skill: seenAfter }, { phase: 'after' });
    await store.end(id, 'partial');
    const [create] = (await store.history('acme', '42')).unsettled;
    if (create === undefined) throw new Error('nothing is outstanding');
    return { store, id, create };
  }

  it('are unsettled from the time of their answer or timeout, for this remote account', async () => {
    const { store, id, create } = await unknownCreate();
    const { seq, action, name } = { seq: 1, action: 'create', name: 'New' };
    const sent = { runId: id, seq, action, kind: 'skill', name, remoteId: null };
    expect(create).toEqual({ ...sent, attempts: 1, sinceMs: T0 + 7 });
    expect((await store.history('acme', '43')).unsettled).toEqual([]);
    expect((await store.history('other', '42')).unsettled).toEqual([]);
  });

  it('are done, owned and counted when a list shows the entry', async () => {
    const { store, id, create } = await unknownCreate();
    const found = { hasHappened: true, entry: listed('s1', 'new') };
    await store.journal.settleOperation(create, found, await store.begin(2), T0 + 9);
    expect((await store.history('acme', '42')).unsettled).toEqual([]);
    const detail = await store.reader.run(id);
    expect([detail?.operations[0]?.status, detail?.operations[0]?.remoteId, detail?.run.created]).toEqual([
      'done',
      's1',
      1,
    ]);
    expect(
      store.rows('select name, requested_name, created_by_run from entries where remote_id = ?', 's1'),
    ).toEqual([{ name: 'new', requested_name: 'New', created_by_run: id }]);
  });

  it('are journaled with the entries that they cannot have made', async () => {
    const { store } = await unknownCreate();
    const { recent, knownBefore } = await store.history('acme', '42');
    const [create] = recent;
    expect(knownBefore.get(create?.runId ?? '')).toEqual(
      await store.journal.knownIds('acme', '42', create?.runId ?? ''),
    );
  });

  it('stay unknown and are settled when no list shows their entry', async () => {
    const { store, id, create } = await unknownCreate();
    const absent = { hasHappened: false, entry: null };
    await store.journal.settleOperation(create, absent, await store.begin(2), T0 + 9);
    expect((await store.history('acme', '42')).unsettled).toEqual([]);
    expect((await store.reader.run(id))?.operations[0]?.status).toBe('unknown');
  });

  it('are not among the entries that were known when they were sent', async () => {
    const { store, id } = await unknownCreate();
    await store.record(await store.begin(2), { skill: [listed('old', 'Old'), listed('s1', 'New')] });
    expect([...(await store.journal.knownIds('acme', '42', id))]).toEqual(['skill:old']);
    expect([...(await store.journal.knownIds('acme', '42', runId(2)))].toSorted()).toEqual([
      'skill:old',
      'skill:s1',
    ]);
  });

  it('are not known from the list that was read after them in the same run', async () => {
    const { store, id } = await unknownCreate([listed('old', 'Old'), listed('s1', 'new')]);
    expect([...(await store.journal.knownIds('acme', '42', id))]).toEqual(['skill:old']);
  });
});

describe('the journal', () => {
  it('marks the entry of a delete as deleted, unless the entry was gone already', async () => {
    const store = await fixture();
    const lease = await store.take(runId(1));
    const id = await store.begin(1);
    await store.record(id, { skill: [listed('a', 'A'), listed('b', 'B')] });
    const deletes = ['a', 'b'].map((each) => operation({ action: 'delete', remoteId: each, name: each }));
    await store.operate(id, lease, deletes, [result(1), result(2, { attempts: 0 })]);
    expect(store.rows('select remote_id, deleted_by_run from entries order by remote_id')).toEqual([
      { remote_id: 'a', deleted_by_run: id },
      { remote_id: 'b', deleted_by_run: null },
    ]);
  });

  it('keeps, replaces or clears the commit that was last applied', async () => {
    const store = await fixture();
    const lease = await store.take(runId(1));
    const run = await store.begin(1);
    const known = { sha: 'abc', committedAt: '2026-01-01' };
    const after = async (commit: AppliedRun['commit']): Promise<string | undefined> => {
      await store.apply(run, lease, { commit });
      return (await store.journal.accountState('acme')).lastAppliedCommit?.sha;
    };
    expect([await after(known), await after('unchanged'), await after(null)]).toEqual([
      'abc',
      'abc',
      undefined,
    ]);
  });

  it('neither adopts entries nor stores a commit for a run that has lost its lock', async () => {
    const store = await fixture();
    const lost = await store.take(runId(1));
    const id = await store.begin(1);
    await store.record(id, { skill: [listed('a', 'A')] });
    const next = await store.take(runId(2), T0 + 31_000);
    await store.apply(await store.begin(2), next, { commit: { sha: 'new', committedAt: '2026-01-02' } });
    const older = { named: [entryKey('skill', 'a')], commit: { sha: 'old', committedAt: '2026-01-01' } };
    expect(await store.apply(id, lost, older)).toBe('lock_lost');
    expect((await store.journal.accountState('acme')).lastAppliedCommit?.sha).toBe('new');
    expect([...(await store.history('acme', '42')).owned]).toEqual([]);
  });
});
