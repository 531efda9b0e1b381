// Which of several processes leads: their locks are real, in one store, and their clock is moved by the test.
import { expect, it, onTestFinished } from 'vitest';
import type { Locks } from '../../../src/core/ports/locks.ts';
import { createLeadership, type LeadershipOptions } from '../../../src/daemon/leadership.ts';
import { createLeaseKeeper } from '../../../src/store/lease-keeper.ts';
import { type Fixture, fixture, openAgain, T0 } from '../store/fixture.ts';
import { testLog } from './notify/stage.ts';
import { virtualClock, type VirtualClock } from './virtual-clock.ts';

let epochs = 0;

interface Process {
  readonly leadership: ReturnType<typeof createLeadership>;
  /** The terms that began and ended: `lead 1 start`, `lead 2`, `end`. */
  readonly terms: string[];
  /** From now on its renewals are never answered. */
  hang(): void;
}

function startProcess(
  locks: Locks,
  clock: VirtualClock,
  options: Partial<Pick<LeadershipOptions, 'onLead' | 'readCommit' | 'compareCommits'>> = {},
): Process {
  let isHung = false;
  const lock = createLeaseKeeper({
    clock,
    locks: { ...locks, renew: (nowMs) => (isHung ? new Promise(() => undefined) : locks.renew(nowMs)) },
  });
  const terms: string[] = [];
  const leadership = createLeadership({
    lock,
    clock,
    log: testLog(),
    newEpoch: () => `epoch ${(epochs += 1)}`,
    readCommit: async () => null,
    compareCommits: async () => 'unknown',
    onLead: async (epoch, isStart) => void terms.push(`lead ${epoch}${isStart ? ' start' : ''}`),
    onEnd: async () => void terms.push('end'),
    onChange: () => undefined,
    onStoreClock: () => undefined,
    ...options,
  });
  leadership.start();
  return { leadership, terms, hang: () => (isHung = true) };
}

async function scene(): Promise<{
  clock: VirtualClock;
  store: Fixture;
  other: Fixture;
  readonly pass: (ms: number) => Promise<void>;
}> {
  epochs = 0;
  const store = await fixture();
  const other = await openAgain(store);
  onTestFinished(() => other.close());
  const clock = virtualClock(T0);
  return {
    clock,
    store,
    other,
    /** In small steps, since the statements of a store take real time. */
    async pass(ms) {
      for (let passed = 0; passed < ms; passed += 500) {
        await clock.pass(500);
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
    },
  };
}

it('a process follows until the leader stops, and then leads at once under a later epoch', async () => {
  const { clock, store, other, pass } = await scene();
  const first = startProcess(store.locks, clock);
  await pass(1000);
  const second = startProcess(other.locks, clock);
  await pass(2 * store.locks.leaseMs);
  expect([first.terms, second.terms]).toEqual([['lead epoch 1 start'], []]);
  expect([first.leadership.isLeading(), second.leadership.isLeading()]).toEqual([true, false]);
  await first.leadership.stop();
  await pass(2500);
  expect([first.terms, second.terms]).toEqual([['lead epoch 1 start', 'end'], ['lead epoch 2']]);
  expect([first.leadership.isLeading(), second.leadership.isLeading()]).toEqual([false, true]);
  await second.leadership.stop();
});

it('a leader whose term cannot begin leads again, or lets another process lead', async () => {
  const { clock, store, pass } = await scene();
  let failures = 2;
  const onLead = async (): Promise<void> => {
    if ((failures -= 1) >= 0) throw new Error('the store does not answer');
  };
  const { leadership, terms } = startProcess(store.locks, clock, { onLead });
  await pass(15_000);
  expect([terms, leadership.isLeading()]).toEqual([['end', 'end'], true]);
  await leadership.stop();
});

it('a leader that cannot renew its lease in time ends its term, and another one leads', async () => {
  const { clock, store, other, pass } = await scene();
  const first = startProcess(store.locks, clock);
  await pass(1000);
  const second = startProcess(other.locks, clock);
  await pass(5000);
  first.hang();
  for (let passed = 0; passed < store.locks.leaseMs + 5000; passed += 500) {
    await pass(500);
    expect(first.leadership.isLeading() && second.leadership.isLeading()).toBe(false);
  }
  expect(first.terms).toEqual(['lead epoch 1 start', 'end']);
  expect(second.terms).toHaveLength(1);
  expect(second.leadership.isLeading()).toBe(true);
  await second.leadership.stop();
  await first.leadership.stop();
});

it('a process with an older commit than the last leader does not lead, and says so, until it has that commit', async () => {
  const { clock, store, pass } = await scene();
  const commit = (sha: string) => ({ sha, committedAt: '2026-03-10T12:00:00.000Z', dirty: false });
  let own = 'old';
  const locks = {
    ...store.locks,
    leader: async (nowMs: number) => ({ ...(await store.locks.leader(nowMs)), commit: commit('new') }),
  };
  const behind = startProcess(locks, clock, {
    readCommit: async () => ({ ...commit(own), authoredAt: '', author: null, subject: '' }),
    compareCommits: async (a) => (a === 'old' ? 'ancestor' : 'descendant'),
  });
  await pass(10_000);
  expect([behind.terms, behind.leadership.problem()]).toEqual([[], expect.stringContaining('older')]);
  own = 'newer';
  await pass(5000);
  expect([behind.terms, behind.leadership.problem()]).toEqual([['lead epoch 1 start'], null]);
  own = 'old';
  await pass(5000);
  expect(behind.terms).toEqual(['lead epoch 1 start', 'end']);
  await behind.leadership.stop();
});
