// The end of a connection to a database that may not answer any more.
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { endConnection } from '../../../../src/store/postgres/end-connection.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('the end of a connection is not waited for longer than a second', async () => {
  let hasEnded = false;
  const ended = endConnection({ end: () => new Promise(() => undefined) }).then(() => (hasEnded = true));
  await vi.advanceTimersByTimeAsync(999);
  expect(hasEnded).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  await ended;
});

it('a connection that cannot be ended is no failure, and leaves no timer', async () => {
  await endConnection({ end: () => Promise.reject(new Error('Connection terminated')) });
  expect(vi.getTimerCount()).toBe(0);
});
