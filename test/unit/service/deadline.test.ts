// The deadline of a call, and the release of its listeners.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { startDeadline } from '../../../src/service/transport.ts';

const LONG_MS = 60_000;

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

it('a deadline is over when its time has passed', async () => {
  const deadline = startDeadline(1, new AbortController().signal);
  await aborted(deadline.signal);
  expect(deadline.isOver()).toBe(true);
  deadline.release();
});

it('a deadline ends when its call is aborted, and is not over then', () => {
  const kill = new AbortController();
  const deadline = startDeadline(LONG_MS, kill.signal);
  expect(deadline.signal.aborted).toBe(false);
  kill.abort();
  expect([deadline.signal.aborted, deadline.isOver()]).toEqual([true, false]);
  deadline.release();
  const late = startDeadline(LONG_MS, kill.signal);
  expect([late.signal.aborted, late.isOver()]).toEqual([true, false]);
  late.release();
});

it('a deadline leaves nothing on the signal that outlives fifty thousand calls', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const kill = new AbortController();
  const heap = async (): Promise<number> => {
    for (const _ of [1, 2, 3]) {
      await new Promise((resolve) => setTimeout(resolve, 10));
      collect();
    }
    return process.memoryUsage().heapUsed;
  };
  const call = (): void => {
    const deadline = startDeadline(LONG_MS, kill.signal);
    const listen = (): void => undefined;
    deadline.signal.addEventListener('abort', listen);
    deadline.signal.removeEventListener('abort', listen);
    deadline.release();
  };
  for (let count = 0; count < 1000; count += 1) call();
  const before = await heap();
  for (let count = 0; count < 50_000; count += 1) call();
  expect((await heap()) - before).toBeLessThan(1_000_000);
});
