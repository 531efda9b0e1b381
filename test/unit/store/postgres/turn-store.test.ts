// The turns of several replicas in PostgreSQL, one step at a time.
import { hostname } from 'node:os';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  type ClaimedTurn,
  type DueSchedule,
  GENERATION,
  type TurnStore,
} from '../../../../src/core/turn-store.ts';
import { hasPostgres } from '../../../support/postgres.ts';
import { configCommit, type TurnDatabase, turnDatabase } from '../../../support/turn-database.ts';

const START = Date.UTC(2026, 0, 5, 10);
const MINUTE = 60_000;
const LEASE = 10 * MINUTE;
const ALL = { most: 100, except: [] };

function schedule(name: string, parts: Partial<DueSchedule> = {}): DueSchedule {
  return {
    name,
    lane: 'https://eu',
    schedule: '* * * * *',
    timezone: 'Etc/UTC',
    jitterMs: 0,
    revision: name,
    digest: name,
    isBroken: false,
    dueMs: START + MINUTE,
    tickMs: START + MINUTE,
    backoffUntilMs: null,
    ...parts,
  };
}

describe.skipIf(!hasPostgres)('turns on PostgreSQL', () => {
  let database: TurnDatabase;
  let store: TurnStore;

  beforeEach(async () => {
    database = await turnDatabase();
    ({ store } = database);
    await database.setClock(START);
  });

  async function claim(id: string, generation = 1, room = 9): Promise<readonly ClaimedTurn[]> {
    return (await store.claim(id, GENERATION * generation, [{ lane: 'https://eu', room }], ALL)).turns;
  }

  /** Stores the configuration of a replica. */
  async function update(
    generation: number,
    schedules: readonly DueSchedule[],
    { id = 'one', isNewest = true } = {},
  ): Promise<boolean> {
    const own = {
      generation: GENERATION * generation,
      isNewest,
      commit: configCommit(String(generation)),
      digest: '',
      flaws: 0,
    };
    return await store.update(id, await store.situation(id), own, schedules);
  }

  const names = (turns: readonly ClaimedTurn[]): string[] => turns.map(({ account }) => account);
  const next = (minutes: number) => {
    const ms = START + minutes * MINUTE;
    return { dueMs: ms, tickMs: ms, backoffUntilMs: null };
  };

  it('names the replica that runs an account, until the turn has ended', async () => {
    await store.register('one', '1', LEASE);
    await update(1, [schedule('a'), schedule('b', { dueMs: START + 2 * MINUTE })]);
    await database.setClock(START + MINUTE);
    const [turn] = await claim('one');
    const states = await store.states(['a', 'b']);
    expect(states.get('a')).toMatchObject({
      activity: 'running',
      nextRunMs: null,
      replica: { id: 'one', host: hostname(), pid: process.pid },
    });
    expect(states.get('b')).toMatchObject({ activity: 'idle', nextRunMs: START + 2 * MINUTE, replica: null });
    if (turn !== undefined) await store.end('one', turn, next(2));
    expect((await store.states(['a'])).get('a')).toMatchObject({ activity: 'idle', replica: null });
  });

  it('gives each due account to one replica, the longest due first', async () => {
    await store.register('one', '1', LEASE);
    await store.register('two', '1', LEASE);
    await update(1, [
      schedule('a', { dueMs: START + 3000 }),
      schedule('b', { dueMs: START + 1000 }),
      schedule('c', { dueMs: START + 2000 }),
      schedule('other', { lane: 'https://us', dueMs: START }),
    ]);
    expect(await claim('one')).toEqual([]);
    expect((await store.claim('one', 1, [{ lane: 'https://eu', room: 1 }], ALL)).nextDueMs).toBe(
      START + 1000,
    );
    await database.setClock(START + 5000);
    expect(names(await claim('one', 1, 2)).toSorted()).toEqual(['b', 'c']);
    expect(names(await claim('two'))).toEqual(['a']);
    expect(names(await claim('one'))).toEqual([]);
  });

  it('runs a synced account exactly once more after its run', async () => {
    await store.register('one', '1', LEASE);
    await update(1, [schedule('a')]);
    await database.setClock(START + MINUTE);
    const [first] = await claim('one');
    if (first === undefined) throw new Error('nothing was claimed');
    expect(first).toMatchObject({ requested: null, tickMs: START + MINUTE, lastTickMs: START + MINUTE });
    expect([await store.sync('a'), await store.sync('a'), await store.sync('unknown')]).toEqual([
      true,
      true,
      false,
    ]);
    expect(await claim('one')).toEqual([]);
    expect(await store.end('one', first, next(2))).toBeNull();
    const [second] = await claim('one');
    expect(second).toMatchObject({ requested: 'manual', tickMs: START + 2 * MINUTE });
    if (second === undefined) throw new Error('nothing was claimed');
    await store.end('one', second, next(2));
    expect(await claim('one')).toEqual([]);
    expect((await store.states(['a'])).get('a')?.nextRunMs).toBe(START + 2 * MINUTE);
  });

  it('frees the accounts of a claim whose answer was lost', async () => {
    await store.register('one', '1', LEASE);
    await update(1, [schedule('a'), schedule('b')]);
    await database.setClock(START + MINUTE);
    await claim('one');
    await store.releaseOthers('one', ['b']);
    const [again, ...others] = await claim('one');
    expect(again).toMatchObject({ account: 'a', requested: null, tickMs: START + MINUTE });
    expect(others).toEqual([]);
  });

  it('returns the new schedule when it changed during the run', async () => {
    await store.register('one', '1', LEASE);
    await update(1, [schedule('a')]);
    await database.setClock(START + MINUTE);
    const [turn] = await claim('one');
    if (turn === undefined) throw new Error('nothing was claimed');
    await update(1, [schedule('a', { schedule: '*/5 * * * *', digest: 'changed' })]);
    const line = await store.end('one', turn, next(2));
    expect(line?.schedule).toBe('*/5 * * * *');
    if (line === null) return;
    expect(await store.end('one', { ...turn, line }, next(5))).toBeNull();
    expect((await store.states(['a'])).get('a')?.nextRunMs).toBe(START + 5 * MINUTE);
  });

  it('accepts nothing from a replica that was declared dead', async () => {
    await store.register('one', '1', LEASE);
    await store.register('two', '1', LEASE);
    await update(1, [schedule('a')]);
    await database.setClock(START + MINUTE);
    const [turn] = await claim('one');
    if (turn === undefined) throw new Error('nothing was claimed');
    await store.beat('two', LEASE);
    expect(await store.reap()).toEqual([]);
    expect(await store.isCurrent('one', turn, GENERATION)).toBe(true);
    expect(await store.isCurrent('one', turn, 0)).toBe(false);
    await database.setClock(START + LEASE);
    expect(await store.isCurrent('one', turn, GENERATION)).toBe(false);
    await store.beat('two', LEASE);
    expect(await store.reap()).toEqual(['a']);
    expect(await store.beat('one', LEASE)).toBeNull();
    expect(await claim('one')).toEqual([]);
    const [again] = await claim('two');
    expect(again).toMatchObject({ account: 'a', requested: 'start' });
    expect(again?.epoch).not.toBe(turn.epoch);
    await store.end('one', turn, next(9));
    await store.release('one', turn, 'interrupted');
    expect((await store.states(['a'])).get('a')?.activity).toBe('running');
    expect((await store.replicas('two')).map(({ id, isSelf }) => [id, isSelf])).toEqual([['two', true]]);
  });

  it('keeps what a newer commit changed from an older replica', async () => {
    await store.register('old', '1', LEASE);
    await store.register('new', '1', LEASE);
    await update(1, [schedule('a'), schedule('b'), schedule('c')]);
    await update(2, [
      schedule('a', { schedule: '0 * * * *', digest: 'newer' }),
      schedule('b'),
      schedule('d'),
    ]);
    await update(1, [schedule('a'), schedule('b'), schedule('c')]);
    expect(await database.query('select account, schedule, removed from turns order by account')).toEqual([
      { account: 'a', schedule: '0 * * * *', removed: 0 },
      { account: 'b', schedule: '* * * * *', removed: 0 },
      { account: 'c', schedule: '* * * * *', removed: 1 },
      { account: 'd', schedule: '* * * * *', removed: 0 },
    ]);
    expect(await store.waiting(GENERATION, ['c'])).toMatchObject({ newer: 3, names: ['a', 'c', 'd'] });
    expect(await store.waiting(GENERATION, [])).toMatchObject({ newer: 2, names: ['a', 'd'] });
    await database.setClock(START + MINUTE);
    expect(names(await claim('old', 1))).toEqual(['b']);
    expect(names(await claim('new', 2)).toSorted()).toEqual(['a', 'd']);
  });

  it('keeps settings that were read before they were committed from a replica without them', async () => {
    await update(1, [schedule('a')]);
    await update(2, [schedule('a', { digest: 'changed' })]);
    await update(3, [schedule('a', { digest: 'changed' })]);
    await update(2, [schedule('a')], { isNewest: false });
    expect(await database.query('select config_digest, config_gen::int as gen from turns')).toEqual([
      { config_digest: 'changed', gen: 6 },
    ]);
  });

  it('keeps the last good schedule of an account whose file is invalid', async () => {
    await update(1, [schedule('a')]);
    await update(2, [schedule('a', { isBroken: true, schedule: '*/15 * * * *', digest: 'x', lane: '' })]);
    expect(await database.query('select lane, schedule, config_gen::int as gen from turns')).toEqual([
      { lane: 'https://eu', schedule: '* * * * *', gen: 3 },
    ]);
  });

  it('lets a replica run accounts only when every other one knows of it', async () => {
    expect(await store.register('one', '1', LEASE)).toMatchObject({ replicas: 1, isKnown: true });
    await database.setClock(START + 1);
    expect(await store.register('two', '1', LEASE)).toMatchObject({ replicas: 2, isKnown: false });
    await store.beat('one', LEASE);
    expect(await store.beat('two', LEASE)).toMatchObject({ isKnown: true });
    await store.retire('one');
    expect(await store.beat('two', LEASE)).toMatchObject({ replicas: 1 });
  });

  it('starts one run for each approval', async () => {
    await store.register('one', '1', LEASE);
    await update(1, [schedule('a')]);
    expect(await store.approve('a', 'now')).toBe(true);
    expect(await store.approve('a', 'now')).toBe(false);
    const [turn] = await claim('one');
    expect(turn).toMatchObject({ requested: 'approval' });
    if (turn === undefined) return;
    expect(await store.approve('a', 'later')).toBe(false);
    await store.end('one', turn, next(1));
    expect(await store.approve('a', 'later')).toBe(true);
  });

  it('stores a configuration only in the situation that it was compared in', async () => {
    const situation = await store.situation('one');
    const own = { generation: GENERATION, isNewest: true, commit: configCommit('1'), digest: 'd', flaws: 0 };
    await store.register('two', '1', LEASE);
    expect(await store.update('one', situation, own, [schedule('a')])).toBe(false);
    expect(await update(1, [schedule('a')])).toBe(true);
    expect(await store.update('two', await store.situation('two'), own, [schedule('a')])).toBe(true);
    const after = await store.situation('one');
    expect(after.generations.map(({ gen, commit }) => [gen, commit])).toEqual([[GENERATION, '1']]);
    expect(after.others).toEqual([{ id: 'two', files: { commit: '1', digest: 'd' } }]);
  });

  it('remembers the latest commit however often files without a commit have changed', async () => {
    await store.register('one', '1', LEASE);
    await update(1, [schedule('a')]);
    await database.query(
      "insert into config_generations (gen, commit, committed_at) select n, '', '' from generate_series(3, 99) as n",
    );
    const { generations } = await store.situation('one');
    expect(generations).toHaveLength(21);
    expect([generations[0], generations.at(-1)]).toMatchObject([
      { gen: 99 },
      { gen: GENERATION, commit: '1' },
    ]);
  });

  it('leaves an account that a quick revert did not change to replicas with the newest commit', async () => {
    await store.register('middle', '1', LEASE);
    await store.register('new', '1', LEASE);
    await update(1, [schedule('a'), schedule('b')]);
    // The revert has the content of the first commit; the replica in the middle has the commit that was reverted.
    await update(2, [schedule('a'), schedule('b')], { id: 'new' });
    await update(1, [schedule('a', { digest: 'reverted', schedule: '0 * * * *' }), schedule('b')], {
      id: 'middle',
      isNewest: false,
    });
    expect(await database.query('select account, schedule from turns order by account')).toEqual([
      { account: 'a', schedule: '* * * * *' },
      { account: 'b', schedule: '* * * * *' },
    ]);
    await database.setClock(START + MINUTE);
    expect(names(await claim('middle', 1))).toEqual(['b']);
    const state = async () => (await store.states(['a'])).get('a');
    expect(await state()).toMatchObject({ waitsForCommit: null, activity: 'queued' });
    expect((await store.active()).get('a')).toBe('queued');
    await store.retire('new');
    expect(await state()).toMatchObject({ waitsForCommit: '2', activity: 'idle', nextRunMs: null });
    expect((await store.active()).get('a')).toBeUndefined();
    expect(await store.waiting(GENERATION, [])).toEqual({
      newer: 1,
      names: ['a'],
      unavailable: 1,
      commit: '2',
    });
  });

  it('does not start a run of an account that the newest of two files of one commit removed', async () => {
    await store.register('one', '1', LEASE);
    await store.register('two', '1', LEASE);
    await update(1, [schedule('a')]);
    await store.sync('a');
    const [turn] = await claim('one');
    if (turn === undefined) throw new Error('nothing was claimed');
    await update(2, [], { id: 'two' });
    await update(1.5, [schedule('a')], { isNewest: false });
    expect(await store.isCurrent('one', turn, 1.5 * GENERATION)).toBe(false);
  });

  it('forgets what was requested of an account that was removed, so that a pause binds its next run', async () => {
    await store.register('one', '1', LEASE);
    await update(1, [schedule('a')]);
    await store.sync('a');
    const [turn] = await claim('one');
    if (turn === undefined) throw new Error('nothing was claimed');
    await update(2, []);
    await store.release('one', turn, 'later');
    await update(3, [schedule('a')]);
    await database.setClock(START + MINUTE);
    expect(await claim('one', 3)).toMatchObject([{ account: 'a', requested: null }]);
  });

  it('keeps the place of an account whose replica died in the queue', async () => {
    await store.register('one', '1', LEASE);
    await update(1, [schedule('a', { dueMs: START }), schedule('b', { dueMs: START + MINUTE })]);
    await claim('one');
    await store.retire('one');
    await database.setClock(START + 2 * MINUTE);
    await store.register('two', '1', LEASE);
    expect(names(await claim('two', 1, 1))).toEqual(['a']);
  });

  it('starts a run again soon that found its account locked, once for all requests', async () => {
    await store.register('one', '1', LEASE);
    await update(1, [schedule('a')]);
    await store.sync('a');
    const [turn] = await claim('one');
    if (turn === undefined) throw new Error('nothing was claimed');
    await store.sync('a');
    await store.release('one', turn, 'locked');
    expect(await claim('one')).toEqual([]);
    await database.setClock(START + 1000);
    const [again] = await claim('one');
    expect(again).toMatchObject({ account: 'a', requested: 'manual' });
    if (again === undefined) throw new Error('nothing was claimed');
    await store.end('one', again, next(2));
    expect(await claim('one')).toEqual([]);
  });
});
