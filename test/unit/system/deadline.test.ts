// The deadline of a call, and the release of its listeners.
import { expect, it } from 'vitest';
import { startDeadline } from '../../../src/system/clock.ts';

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
