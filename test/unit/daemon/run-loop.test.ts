// The loop of two replicas on one store: their clock is moved by the test, and a run ends when the test ends it.
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import type { DueReason } from '../../../src/core/ports/locks.ts';
import { type DueRun, RunLoop } from '../../../src/daemon/run-loop.ts';
import { createLeaseKeeper } from '../../../src/store/lease-keeper.ts';
import { fixture, type Fixture, openAgain } from '../store/fixture.ts';
import { testLog } from './notify/stage.ts';
import { virtualClock, type VirtualClock } from './virtual-clock.ts';

const NOON = Date.parse('2026-06-01T12:00:01.000Z');
const TICK_MS = 60_000;
/** The longest jitter. */
const JITTER_MS = TICK_MS / 10;
const ANN = { name: 'ann', via: 'http' } as const;

beforeEach(() => vi.useFakeTimers({ toFake: ['Date'], now: NOON }));
afterEach(() => void vi.useRealTimers());

interface Account {
  readonly name: string;
  readonly address?: string;
  digest?: string;
}

interface Replica {
  readonly started: (DueRun & { end(again?: DueReason): Promise<void> })[];
  readonly skipped: string[];
  readonly log: ReturnType<typeof testLog>;
  readonly loop: RunLoop;
  readonly stop: AbortController;
  configure(accounts: readonly Account[]): void;
}

let lastRun = 0;

function replica(store: Fixture, clock: VirtualClock, given: readonly Account[], places = 4): Replica {
  let accounts = given;
  let onChange: () => void = () => undefined;
  const [started, skipped, log] = [[] as Replica['started'], [] as string[], testLog()];
  const stop = new AbortController();
  const keeper = createLeaseKeeper({ locks: store.locks, clock });
  const loop = new RunLoop({
    registry: {
      account: (name: string) => accounts.find((each) => each.name === name),
      accounts: () =>
        accounts.map(({ name, digest = 'sha256:c' }) => ({ name, settings: { configDigest: digest } })),
      schedules: () => accounts.map(({ name }) => ({ name, schedule: '* * * * *', timezone: 'Etc/UTC' })),
      addressOf: (name: string) => accounts.find((each) => each.name === name)?.address ?? '',
      addressCount: () => new Set(accounts.map(({ address }) => address)).size,
      onChange: (listener: () => void) => void (onChange = listener),
    } as unknown as ConstructorParameters<typeof RunLoop>[0]['registry'], // only what the loop uses
    due: store.due,
    locks: keeper,
    clock,
    onStoreClock: () => undefined,
    newRunId: () => `01900000-0000-7000-8000-${(lastRun += 1).toString(16).padStart(12, '0')}`,
    signals: { stop: stop.signal, kill: new AbortController().signal },
    places,
    run: (due) =>
      new Promise((resolve) => {
        const ended = (again: DueReason | null): Promise<void> => {
          resolve(again);
          return pass(clock, 1000);
        };
        started.push({ ...due, end: (again) => ended(again ?? null) });
        due.signals.stop.addEventListener('abort', () => resolve({ trigger: 'start', by: null }));
      }),
    everySecond: async () => undefined,
    onSkipped: (account) => void skipped.push(account),
    log,
  });
  loop.start();
  onTestFinished(async () => {
    stop.abort();
    const stopped = loop.stop();
    await pass(clock, 1000);
    await stopped;
    await keeper.stop();
    // After the hooks of the test: a time that stays set would be that of the next files.
    vi.useRealTimers();
  });
  const configure = (next: readonly Account[]): void => {
    accounts = next;
    onChange();
  };
  return { started, skipped, log, loop, stop, configure };
}

/** Lets time pass in steps in which the store, which takes its own time, can answer. */
async function pass(clock: VirtualClock, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 250) {
    vi.setSystemTime(clock.nowMs() + 250);
    await clock.pass(250);
    // Statements of the store wait for real I/O.
    for (let turn = 0; turn < 8; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  }
}

async function scene(accounts: readonly Account[] = [{ name: 'acme' }]) {
  const store = await fixture();
  const clock = virtualClock(NOON);
  return { store, clock, first: replica(store, clock, accounts) };
}

const names = (...replicas: readonly Replica[]): string[] =>
  replicas.flatMap(({ started }) => started.map(({ account, trigger }) => `${account}: ${trigger}`));

it('an account that appears runs once, then at each tick, whichever replica takes it', async () => {
  const { store, clock, first } = await scene();
  const other = await openAgain(store);
  const second = replica(other, clock, [{ name: 'acme' }]);
  await pass(clock, 3000);
  expect(names(first, second)).toEqual(['acme: start']);
  for (const { started } of [first, second]) await started[0]?.end();
  await pass(clock, TICK_MS + JITTER_MS + 1000);
  expect(names(first, second).toSorted()).toEqual(['acme: schedule', 'acme: start']);
});

it('a tick during a run is skipped and reported once, and a sync is followed by exactly one more run', async () => {
  const { store, clock, first } = await scene();
  const other = await openAgain(store);
  const second = replica(other, clock, [{ name: 'acme' }]);
  await pass(clock, 3000);
  const [running] = [...first.started, ...second.started];
  await pass(clock, TICK_MS + JITTER_MS + 1000);
  expect([...first.skipped, ...second.skipped]).toEqual(['acme']);
  for (let time = 0; time < 3; time += 1)
    await store.operator.operate({ action: 'sync', account: 'acme' }, ANN, clock.nowMs());
  await pass(clock, 2000);
  expect(names(first, second)).toEqual(['acme: start']);
  await running?.end();
  await pass(clock, 2000);
  expect(names(first, second).toSorted()).toEqual(['acme: manual', 'acme: start']);
  expect([...first.started, ...second.started].find(({ trigger }) => trigger === 'manual')?.by).toBe('ann');
});

it('accounts wait for a free place, and those of one address leave a quarter of the places to others', async () => {
  const many = Array.from({ length: 6 }, (_, index) => ({ name: `slow-${index}`, address: 'slow' }));
  const { clock, first } = await scene([...many, { name: 'other', address: 'other' }]);
  await pass(clock, 3000);
  expect(first.started.filter(({ account }) => account.startsWith('slow'))).toHaveLength(3);
  expect(first.started.map(({ account }) => account)).toContain('other');
  await first.started.find(({ account }) => account === 'slow-0')?.end();
  expect(first.started.filter(({ account }) => account.startsWith('slow'))).toHaveLength(4);
});

it('a replica that stops in order leaves what it interrupted to another one at once', async () => {
  const { store, clock, first } = await scene();
  await pass(clock, 2000);
  expect(names(first)).toEqual(['acme: start']);
  const other = await openAgain(store);
  const second = replica(other, clock, [{ name: 'acme' }]);
  first.stop.abort();
  const stopped = first.loop.stop();
  await pass(clock, 1000);
  await stopped;
  await pass(clock, 1000);
  expect(names(second)).toEqual(['acme: start']);
});

it('an account runs again when its files have changed, and not when another account’s have', async () => {
  const { store, clock, first } = await scene([{ name: 'acme' }, { name: 'beta' }]);
  await pass(clock, 2000);
  for (const run of first.started.slice()) {
    const { account, lease } = run;
    await store.journal.beginRun({
      id: lease.runId,
      account,
      trigger: 'start',
      mode: 'plan',
      startedAtMs: clock.nowMs(),
      configDigest: 'sha256:c',
      configCommit: null,
    });
    await store.end(lease.runId, 'planned');
    await run.end();
  }
  first.configure([{ name: 'acme', digest: 'sha256:new' }, { name: 'beta' }]);
  await pass(clock, 3000);
  expect(names(first).slice(2)).toEqual(['acme: change']);
});

it('a tick that was missed while nothing ran is made once at the start, and an account without one waits', async () => {
  const store = await fixture();
  await store.due.appear(['late', 'early'], NOON - TICK_MS - 2000);
  store.execute('update accounts set due_at = null, due_reason = null');
  await store.due.tick([{ account: 'early', tickMs: NOON - 1000, dueMs: NOON, trigger: 'schedule' }], NOON);
  store.execute('update accounts set due_at = null, due_reason = null');
  const clock = virtualClock(NOON);
  const only = replica(store, clock, [{ name: 'late' }, { name: 'early' }]);
  await pass(clock, 3000);
  expect(names(only)).toEqual(['late: catch_up']);
});

it('an account that this process does not have is left to others', async () => {
  const { store, clock, first } = await scene();
  await store.due.appear(['elsewhere'], NOON);
  await pass(clock, 3000);
  expect(names(first)).toEqual(['acme: start']);
});

it('a store that cannot be written is reported once, and no tick is lost meanwhile', async () => {
  const { store, clock, first } = await scene();
  await pass(clock, 2000);
  await first.started[0]?.end();
  const repair = store.failOn('accounts', 'update');
  await pass(clock, TICK_MS + JITTER_MS);
  expect(
    first.log.lines.filter(({ event, level }) => event === 'due_unknown' && level === 'error'),
  ).toHaveLength(1);
  expect(first.loop.problem()).not.toBeNull();
  repair();
  await pass(clock, JITTER_MS);
  expect(names(first)).toEqual(['acme: start', 'acme: schedule']);
  expect(first.loop.problem()).toBeNull();
});
