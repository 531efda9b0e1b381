// The calls of a child process occupy places at its host until they end, or until the process ends.
import { expect, it } from 'vitest';
import { createHostQueue } from '../../../src/service/pacing.ts';
import { countCalls } from '../../../src/workers/host-calls.ts';
import { API } from '../service/loopback.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A child process at a host with room for two calls, and the ids of the calls that were granted. */
function processAtHost() {
  const host = createHostQueue({ ...API, hostConcurrency: 2 });
  const granted: number[] = [];
  const calls = countCalls(
    (call) => host.add(call),
    (id) => granted.push(id),
  );
  return { host, granted, calls };
}

it('a call of a child process waits for a place at its address, and returns it', async () => {
  const { granted, calls } = processAtHost();
  for (const id of [1, 2, 3]) calls.wanted(id);
  await turn();
  expect(granted).toEqual([1, 2]);
  calls.returned(1);
  await turn();
  expect(granted).toEqual([1, 2, 3]);
});

it('a child process that ends returns all its places, and receives none that it waited for', async () => {
  const { host, granted, calls } = processAtHost();
  for (const id of [1, 2, 3]) calls.wanted(id);
  await turn();
  calls.end();
  expect(await host.add(() => Promise.resolve('room'))).toBe('room');
  expect(granted).toEqual([1, 2]);
});
