// The turns of replicas in one process, on a real database: what each of them runs and stores.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { sql } from 'kysely';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { StoreError } from '../../../src/core/errors.ts';
import type { ConfigCommit } from '../../../src/core/settings.ts';
import type { AccountSchedule, Turn, Turns } from '../../../src/core/turns.ts';
import { createReplicaTurns } from '../../../src/daemon/replicas/replica-turns.ts';
import { createStoreHealth } from '../../../src/daemon/store-health.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { hasPostgres } from '../../support/postgres.ts';
import { configCommit, type TurnDatabase, turnDatabase } from '../../support/turn-database.ts';
import { until } from '../../support/workspace.ts';
import { testLog } from './notify/stage.ts';

const ONCE_A_YEAR = '0 0 1 1 *';

function schedule(name: string, parts: Partial<AccountSchedule> = {}): AccountSchedule {
  const line = { schedule: ONCE_A_YEAR, timezone: 'Etc/UTC', jitterMs: 0 };
  return { name, ...line, revision: '', lane: 'https://eu', digest: name, isBroken: false, ...parts };
}

interface Configured {
  readonly schedules: readonly AccountSchedule[];
  readonly commit?: ConfigCommit;
  readonly run?: (turn: Turn) => void | Promise<void>;
  readonly stop?: AbortSignal;
  /** Whether the first replica makes all accounts due. */
  readonly isEach?: boolean;
}

describe.skipIf(!hasPostgres)('the turns of a replica', () => {
  let database: TurnDatabase;

  beforeEach(async () => {
    database = await turnDatabase(sql`now()`);
  });

  /** A replica that runs accounts; `probe` is what a new connection does, and `check` what the watch of the store does. */
  function start(
    {
      schedules,
      commit,
      run = () => undefined,
      stop = new AbortController().signal,
      isEach = false,
    }: Configured,
    probe: () => Promise<void> = async () => undefined,
    check: () => Promise<void> = async () => undefined,
  ) {
    const ran: string[] = [];
    const log = testLog();
    const health = createStoreHealth({
      check,
      everyMs: 100,
      clock: systemClock,
      log,
      onChange: () => undefined,
    });
    health.start();
    const turns: Turns = createReplicaTurns({
      store: { ...database.store, probe },
      clock: systemClock,
      random: () => 0,
      newId: randomUUID,
      log,
      report: (part, error) => health.report(part, error),
      version: 'test',
      leaseMs: 2000,
      signals: { stop, kill: new AbortController().signal },
      maxRuns: () => 8,
      onSkipped: () => undefined,
      readConfiguration: async () => ({ schedules, commit: commit ?? null }),
      readCommit: async () => commit ?? null,
      compareCommits: async (a, b) => (a === b ? 'same' : a < b ? 'ancestor' : 'descendant'),
      onReplicas: () => undefined,
    });
    turns.update(schedules);
    turns.start(async (turn) => {
      ran.push(turn.account);
      await run(turn);
    });
    turns.startFirst([], isEach);
    onTestFinished(async () => {
      await turns.stop();
      await health.stop();
    });
    const outages = () =>
      log.lines.flatMap(({ event }) => (/^(store|database)_/.test(String(event)) ? [event] : []));
    return { turns, ran, log, health, outages };
  }

  const rows = () =>
    database.query<{ account: string; lane: string; digest: string; holder: string | null }>(
      'select account, lane, config_digest as digest, holder from turns order by account',
    );
  const isStored = async (digest: string) => (await rows())[0]?.digest === digest;

  it('include an account whose file is invalid since before every replica started', async () => {
    const before = start({ schedules: [schedule('a')], commit: configCommit('1') });
    await until('it is stored', () => isStored('a'));
    await before.turns.stop();
    await database.query("update turns set due_at = now() - interval '1 minute'");
    const broken = schedule('a', { lane: '', digest: 'invalid: name', isBroken: true });
    const { ran } = start({ schedules: [broken], commit: configCommit('2') });
    await until('its failed run is made', () => ran.includes('a'));
    expect((await rows())[0]).toMatchObject({ lane: 'https://eu' });
  });

  it('include the accounts of a claim whose answer came too late', async () => {
    const { turns, ran } = start({ schedules: [schedule('a')] });
    await until('it is stored', () => isStored('a'));
    await database.query('update turns set holder = (select id from replicas), due_at = null');
    await until('it runs', () => ran.includes('a'));
    await turns.stop();
    expect((await rows())[0]?.holder).toBeNull();
  });

  it('end when their run has completed, and are given back when it was interrupted, while the replica stops', async () => {
    const stop = new AbortController();
    const schedules = [schedule('completed'), schedule('interrupted')];
    const { turns, ran } = start({
      schedules,
      stop: stop.signal,
      async run({ account }) {
        await once(stop.signal, 'abort');
        if (account === 'completed') turns.ended(account, 0);
      },
    });
    await until('they are stored', async () => (await rows()).length === 2);
    await Promise.all(schedules.map(({ name }) => turns.sync(name)));
    await until('they run', () => ran.length === 2);
    const stopped = turns.stop();
    stop.abort();
    await stopped;
    const states = await turns.states(['completed', 'interrupted']);
    expect([...states].map(([name, { activity }]) => `${name} ${activity}`).toSorted()).toEqual([
      'completed idle',
      'interrupted queued',
    ]);
  });

  it('are skipped after failures that were not journaled, until a run of the account succeeds', async () => {
    const { turns, ran } = start({
      schedules: [schedule('a', { schedule: '*/15 * * * *' })],
      async run() {
        await systemClock.sleep(1);
        turns.ended('a', 1);
      },
    });
    const backoffMs = async () => (await turns.states(['a'])).get('a')?.backoffUntilMs;
    await until('it is stored', () => isStored('a'));
    await database.query(`
      insert into accounts values ('a', 1, 'before');
      insert into runs (id, started_at) values ('before', '2026-01-01T00:00:00Z'), ('after', '2999-01-01T00:00:00Z')`);
    await turns.sync('a');
    await until('it has failed twice', async () => ran.length === 1 && (await backoffMs()) !== null);
    await database.query("update accounts set consecutive_failures = 0 where name = 'a'");
    await turns.endBackoffs();
    expect(await backoffMs()).not.toBeNull();
    await database.query("update accounts set last_run_id = 'after' where name = 'a'");
    await turns.endBackoffs();
    expect(await backoffMs()).toBeNull();
  });

  it('are given back, and claimed only when the database accepts new connections again', async () => {
    let isRefused = true;
    const refusal = new StoreError('store_unopenable', 'the password is wrong');
    const probes: string[] = [];
    const { turns, ran, health, outages } = start(
      {
        schedules: [schedule('a')],
        run(turn) {
          if (isRefused) expect(turn.storeFailed(refusal)).toBe(true);
        },
      },
      async () => {
        probes.push('probe');
        if (isRefused) throw refusal;
      },
    );
    await until('it is stored', () => isStored('a'));
    await turns.sync('a');
    await until('it was refused and tried again', () => probes.length > 1);
    expect([ran, await health.problem()]).toEqual([['a'], 'the password is wrong']);
    expect((await turns.states(['a'])).get('a')?.activity).toBe('queued');
    isRefused = false;
    await until('it runs', () => ran.length === 2);
    await until('nothing is reported', async () => (await health.problem()) === null);
    expect(outages()).toEqual(['store_unavailable', 'store_available']);
  });

  it.each([
    ['start all accounts when the first of two replicas ends before it has stored its configuration', false],
    ['do not start again when the first of two replicas ends after it has stored its configuration', true],
  ])('%s', async (_title, hasStored) => {
    const { store } = database;
    const did: string[] = [];
    const note = (name: string): void => void did.push(name);
    database = {
      ...database,
      store: {
        ...store,
        beat: (...of) => store.beat(...of).finally(() => note('beat')),
        claim: (...of) => store.claim(...of).finally(() => note('claim')),
        startAll: () => store.startAll().finally(() => note('start')),
      },
    };
    await store.register('first', '1', 60_000);
    start({ schedules: [schedule('a')], isEach: true });
    await until('it is registered', async () => (await store.replicas(null)).length === 2);
    if (hasStored) {
      const own = { generation: 0, isNewest: true, commit: null, digest: '', flaws: 0 };
      const due = { tickMs: null, dueMs: null, backoffUntilMs: null };
      await store.update('first', await store.situation('first'), own, [{ ...schedule('a'), ...due }]);
    }
    await store.beat('first', 60_000);
    await until('it claims', () => did.includes('claim'));
    expect(did).not.toContain('start');
    await store.retire('first');
    const beats = did.length;
    await until('it has noticed that', () => did.slice(beats).filter((what) => what === 'beat').length > 1);
    await until('it claims again', () => did.at(-1) === 'claim');
    expect(did.filter((what) => what === 'start')).toHaveLength(hasStored ? 0 : 1);
  });

  it('have one line in the log when an outage of the database begins, and one when it ends', async () => {
    let isDown = false;
    const works = async (): Promise<void> => {
      if (isDown) throw new StoreError('store_unavailable', 'the database is not available');
    };
    const { store } = database;
    database = {
      ...database,
      store: {
        ...store,
        beat: (...of) => works().then(() => store.beat(...of)),
        claim: (...of) => works().then(() => store.claim(...of)),
        retire: (id) => works().then(() => store.retire(id)),
      },
    };
    const { turns, ran, outages } = start({ schedules: [schedule('a')] }, works, works);
    await until('it is stored', () => isStored('a'));
    await turns.sync('a');
    await until('it runs', () => ran.length === 1);
    isDown = true;
    await until('its lease has ended', () => turns.problems().length > 0);
    isDown = false;
    await until('the outage has ended', () => outages().length > 1);
    await turns.sync('a');
    await until('it runs again', () => ran.length === 2);
    expect(outages()).toEqual(['store_unavailable', 'store_available']);
  });

  it('are not started again at once when the store fails in each run although it accepts new connections', async () => {
    const failure = new StoreError('store_full', 'the disk of the database is full');
    let beats = 0;
    const { store } = database;
    database = {
      ...database,
      store: {
        ...store,
        beat(...which) {
          beats += 1;
          return store.beat(...which);
        },
      },
    };
    const { turns, ran, outages } = start({
      schedules: [schedule('a')],
      run: (turn) => void turn.storeFailed(failure),
    });
    await until('it is stored', () => isStored('a'));
    await turns.sync('a');
    await until('it runs again', () => ran.length > 1);
    const before = { beats, runs: ran.length };
    await until('the lease was renewed three times', () => beats >= before.beats + 3);
    expect(ran.length - before.runs).toBeLessThan(10);
    expect(outages()).toEqual(['store_unavailable']);
  });

  it('follow files without a commit only while no other replica has a commit', async () => {
    const files = start({ schedules: [schedule('a', { digest: 'files' })] });
    await until('its files count', () => isStored('files'));
    const committed = { schedules: [schedule('a', { digest: 'commit' })], commit: configCommit('1') };
    const other = start(committed);
    await until('the commit counts', () => isStored('commit'));
    expect(await files.turns.sync('a')).toBe('queued');
    await until('the replica with the commit runs it', () => other.ran.length === 1);
    await other.turns.stop();
    await until('the files count again', () => isStored('files'));
    start(committed);
    await until('the commit counts again', () => isStored('commit'));
    expect(files.ran).toEqual([]);
  });

  it('report once that an account waits for a commit that no replica has', async () => {
    const newer = start({ schedules: [schedule('a', { digest: 'new' })], commit: configCommit('2') });
    await until('it is stored', () => isStored('new'));
    await newer.turns.stop();
    const { turns, ran, log } = start({ schedules: [schedule('a')], commit: configCommit('1') }, undefined);
    const events = () => log.lines.filter(({ event }) => event === 'commit_unavailable');
    await until('it is reported', () => events().length > 0);
    expect(events()).toMatchObject([{ level: 'error', commit: '2', accounts: 1 }]);
    expect((await turns.states(['a'])).get('a')?.waitsForCommit).toBe('2');
    expect(ran).toEqual([]);
  });
});
