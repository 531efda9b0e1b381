// The watch of the store: outages in the log, in the metrics and in readiness. And how long a stopping process keeps its port
// open.
import { describe, expect, it, onTestFinished } from 'vitest';
import { StoreError } from '../../../src/core/errors.ts';
import { createHealth } from '../../../src/daemon/health.ts';
import { virtualClock } from './virtual-clock.ts';

const REFUSED = new StoreError('store_unavailable', 'the database is not available (ECONNREFUSED)');
const FULL = new StoreError('store_full', 'the disk of the database is full');

function setUp() {
  const clock = virtualClock(0);
  const events: unknown[] = [];
  const record = (data: object) => void events.push('event' in data ? data.event : null);
  const changes: boolean[] = [];
  const store = { check: (): Promise<void> => Promise.resolve() };
  const stop = new AbortController();
  const kill = new AbortController();
  const health = createHealth({
    check: () => store.check(),
    everyMs: 2000,
    clock,
    log: { info: record, error: record },
    onChange: (isAvailable) => void changes.push(isAvailable),
    problems: () => (stop.signal.aborted ? ['the daemon is stopping'] : []),
    signals: { stop: stop.signal, kill: kill.signal },
  });
  onTestFinished(() => health.stop());
  let isDrained = false;
  return {
    clock,
    events,
    changes,
    store,
    health,
    stop,
    kill,
    drain: () => void health.drained().then(() => (isDrained = true)),
    isDrained: () => isDrained,
  };
}

it('an outage is logged and counted once when it begins and once when it ends, however often it is noticed', async () => {
  const { clock, events, changes, store, health } = setUp();
  health.start();
  await clock.pass(10_000);
  expect([events, changes]).toEqual([[], []]);
  store.check = () => Promise.reject(REFUSED);
  await clock.pass(60_000);
  expect(await health.probe()).toEqual([REFUSED.message]);
  expect(health.outage().reason).toBe(REFUSED);
  store.check = () => Promise.resolve();
  await clock.pass(1000);
  expect(await health.probe()).toEqual([]);
  expect(health.outage().aborted).toBe(false);
  expect(events).toEqual(['store_unavailable', 'store_available']);
  expect(changes).toEqual([false, true]);
});

it('a store that does not answer is a problem after 400 ms, and an outage after four seconds', async () => {
  const { clock, events, store, health } = setUp();
  store.check = () => new Promise(() => undefined);
  health.start();
  const problem = health.probe();
  await clock.pass(400);
  expect(await problem).toEqual([expect.stringContaining('has not answered within 400 ms')]);
  expect(events).toEqual([]);
  const before = health.outage();
  await clock.pass(3600);
  expect(events).toEqual(['store_unavailable']);
  expect(before.aborted).toBe(true);
});

it('a store that can be read but not written is a problem, and no outage that refuses requests', async () => {
  const { store, health } = setUp();
  store.check = () => Promise.reject(FULL);
  expect(await health.probe()).toEqual([FULL.message]);
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

describe('a process that stops', () => {
  it('reports that at once, also while its store does not answer', async () => {
    const { health, store, stop } = setUp();
    expect(await health.probe()).toEqual([]);
    store.check = () => new Promise(() => undefined);
    stop.abort();
    expect(await health.probe()).toEqual(['the daemon is stopping']);
  });

  it('keeps its port open for five seconds after the signal when it was probed lately', async () => {
    const { health, clock, stop, drain, isDrained } = setUp();
    await health.probe();
    await clock.pass(20_000);
    stop.abort();
    await clock.pass(2000);
    drain();
    await clock.pass(2999);
    expect(isDrained()).toBe(false);
    await clock.pass(1);
    expect(isDrained()).toBe(true);
  });

  it('closes its port at once when nobody probes it, and when its runs have lasted long enough', async () => {
    const never = setUp();
    await never.clock.pass(60_000);
    never.stop.abort();
    never.drain();
    await never.clock.pass(0);
    expect(never.isDrained()).toBe(true);

    const longAgo = setUp();
    await longAgo.health.probe();
    await longAgo.clock.pass(30_001);
    longAgo.stop.abort();
    longAgo.drain();
    await longAgo.clock.pass(0);
    expect(longAgo.isDrained()).toBe(true);

    const long = setUp();
    await long.health.probe();
    long.stop.abort();
    await long.clock.pass(6000);
    long.drain();
    await long.clock.pass(0);
    expect(long.isDrained()).toBe(true);
  });

  it('does not wait for probes after a second signal', async () => {
    const { health, clock, stop, kill, drain, isDrained } = setUp();
    await health.probe();
    stop.abort();
    drain();
    await clock.pass(1);
    expect(isDrained()).toBe(false);
    kill.abort();
    await clock.pass(0);
    expect(isDrained()).toBe(true);
  });
});
