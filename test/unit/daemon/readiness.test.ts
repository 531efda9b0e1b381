// Readiness of the process, and how long a stopping process keeps its port open.
import { describe, expect, it } from 'vitest';
import { createReadiness } from '../../../src/daemon/readiness.ts';
import { virtualClock } from './virtual-clock.ts';

function setUp() {
  const clock = virtualClock(0);
  const stop = new AbortController();
  const kill = new AbortController();
  const readiness = createReadiness({
    problems: () => (stop.signal.aborted ? ['the daemon is stopping'] : []),
    store: { problem: () => (stop.signal.aborted ? new Promise(() => undefined) : Promise.resolve(null)) },
    signals: { stop: stop.signal, kill: kill.signal },
    clock,
  });
  let isDrained = false;
  return {
    clock,
    stop,
    kill,
    readiness,
    drain: () => void readiness.drained().then(() => (isDrained = true)),
    isDrained: () => isDrained,
  };
}

describe('a process that stops', () => {
  it('reports that at once, also while its store does not answer', async () => {
    const { readiness, stop } = setUp();
    expect(await readiness.probe()).toEqual([]);
    stop.abort();
    expect(await readiness.probe()).toEqual(['the daemon is stopping']);
  });

  it('keeps its port open for five seconds after the signal when it was probed lately', async () => {
    const { readiness, clock, stop, drain, isDrained } = setUp();
    await readiness.probe();
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
    await longAgo.readiness.probe();
    await longAgo.clock.pass(30_001);
    longAgo.stop.abort();
    longAgo.drain();
    await longAgo.clock.pass(0);
    expect(longAgo.isDrained()).toBe(true);

    const long = setUp();
    await long.readiness.probe();
    long.stop.abort();
    await long.clock.pass(6000);
    long.drain();
    await long.clock.pass(0);
    expect(long.isDrained()).toBe(true);
  });

  it('does not wait for probes after a second signal', async () => {
    const { readiness, clock, stop, kill, drain, isDrained } = setUp();
    await readiness.probe();
    stop.abort();
    drain();
    await clock.pass(1);
    expect(isDrained()).toBe(false);
    kill.abort();
    await clock.pass(0);
    expect(isDrained()).toBe(true);
  });
});
