// One process as a replica that others declare dead again and again.
import { getEventListeners } from 'node:events';
import { expect, it, onTestFinished } from 'vitest';
import type { Beat } from '../../../src/core/turn-store.ts';
import { createReplica } from '../../../src/daemon/replicas/replica.ts';
import { testLog } from './notify/stage.ts';
import { virtualClock } from './virtual-clock.ts';

const BEAT: Beat = { nowMs: 0, replicas: 1, isFirst: true, isKnown: true };

function setUp() {
  const clock = virtualClock(0);
  const stop = new AbortController();
  const kill = new AbortController();
  const log = testLog();
  const replica = createReplica({
    store: {
      register: async () => BEAT,
      beat: async () => null,
      reap: async () => [],
      retire: async () => undefined,
    },
    clock,
    log,
    version: 'test',
    leaseMs: 2000,
    signals: { stop: stop.signal, kill: kill.signal },
    newId: () => 'id',
    onBeat: async () => undefined,
    runsEnded: async () => undefined,
  });
  replica.start();
  onTestFinished(async () => {
    const stopped = replica.stop();
    await clock.pass(2000);
    await stopped;
  });
  const lives = () => log.lines.filter(({ event }) => event === 'replica_registered').length;
  return { clock, lives, signals: [stop.signal, kill.signal] };
}

it('a replica that begins again leaves no listener at the signals of the process', async () => {
  const { clock, lives, signals } = setUp();
  await clock.pass(20_000);
  expect(lives()).toBeGreaterThan(5);
  for (const signal of signals) expect(getEventListeners(signal, 'abort').length).toBeLessThan(2);
});
