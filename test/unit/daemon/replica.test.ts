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
  const runs = { ended: Promise.resolve() };
  const replica = createReplica({
    store: {
      register: async () => BEAT,
      beat: async () => null,
      reap: async () => [],
      retire: async () => undefined,
    },
    clock,
    log,
    report: () => undefined,
    version: 'test',
    leaseMs: 2000,
    signals: { stop: stop.signal, kill: kill.signal },
    newId: () => 'id',
    onBeat: async () => undefined,
    runsEnded: () => runs.ended,
  });
  replica.start();
  onTestFinished(async () => {
    const stopped = replica.stop();
    await clock.pass(2000);
    await stopped;
  });
  const lives = () => log.lines.filter(({ event }) => event === 'replica_registered').length;
  return { clock, runs, replica, lives, signals: [stop.signal, kill.signal] };
}

it('a replica that begins again leaves no listener at the signals of the process', async () => {
  const { clock, lives, signals } = setUp();
  await clock.pass(20_000);
  expect(lives()).toBeGreaterThan(5);
  for (const signal of signals) expect(getEventListeners(signal, 'abort').length).toBeLessThan(2);
});

it('a replica whose lease was lost reports that it waits for its runs to end', async () => {
  const { clock, runs, replica, lives } = setUp();
  let end: () => void = () => undefined;
  runs.ended = new Promise((resolve) => (end = resolve));
  await clock.pass(10_000);
  expect([replica.problem(), lives()]).toEqual([expect.stringContaining('lease'), 1]);
  end();
  await clock.pass(0);
  expect([replica.problem(), lives()]).toEqual([null, 2]);
});
