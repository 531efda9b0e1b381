// The watch of the store: outages in the log, in the metrics and in readiness.
import { expect, it, onTestFinished } from 'vitest';
import { StoreError } from '../../../src/core/errors.ts';
import { createStoreHealth } from '../../../src/daemon/store-health.ts';
import { virtualClock } from './virtual-clock.ts';

const REFUSED = new StoreError('store_unavailable', 'the database is not available (ECONNREFUSED)');
const FULL = new StoreError('store_full', 'the disk of the database is full');

function setUp() {
  const clock = virtualClock(0);
  const events: unknown[] = [];
  const record = (data: object) => void events.push('event' in data ? data.event : null);
  const changes: boolean[] = [];
  const store = { check: (): Promise<void> => Promise.resolve() };
  const health = createStoreHealth({
    check: () => store.check(),
    everyMs: 2000,
    clock,
    log: { info: record, error: record },
    onChange: (isAvailable) => void changes.push(isAvailable),
  });
  onTestFinished(() => health.stop());
  return { clock, events, changes, store, health };
}

it('an outage is logged and counted once when it begins and once when it ends, however often it is noticed', async () => {
  const { clock, events, changes, store, health } = setUp();
  health.start();
  await clock.pass(10_000);
  expect([events, changes]).toEqual([[], []]);
  store.check = () => Promise.reject(REFUSED);
  await clock.pass(60_000);
  expect(await health.problem()).toBe(REFUSED.message);
  expect(health.outage().reason).toBe(REFUSED);
  store.check = () => Promise.resolve();
  await clock.pass(1000);
  expect(await health.problem()).toBeNull();
  expect(health.outage().aborted).toBe(false);
  expect(events).toEqual(['store_unavailable', 'store_available']);
  expect(changes).toEqual([false, true]);
});

it('a store that does not answer is a problem after 400 ms, and an outage after four seconds', async () => {
  const { clock, events, store, health } = setUp();
  store.check = () => new Promise(() => undefined);
  health.start();
  const problem = health.problem();
  await clock.pass(400);
  expect(await problem).toContain('has not answered within 400 ms');
  expect(events).toEqual([]);
  const before = health.outage();
  await clock.pass(3600);
  expect(events).toEqual(['store_unavailable']);
  expect(before.aborted).toBe(true);
});

it('a store that can be read but not written is a problem, and no outage that refuses requests', async () => {
  const { store, health } = setUp();
  store.check = () => Promise.reject(FULL);
  expect(await health.problem()).toBe(FULL.message);
  expect(health.outage().aborted).toBe(false);
});

it('a check that ends after the stop reports nothing', async () => {
  const { clock, events, store, health } = setUp();
  let fail: (error: Error) => void = () => undefined;
  store.check = () => new Promise((_resolve, reject) => (fail = reject));
  health.start();
  await clock.pass(0);
  await health.stop();
  await clock.pass(4000);
  fail(REFUSED);
  await clock.pass(0);
  expect(events).toEqual([]);
});
