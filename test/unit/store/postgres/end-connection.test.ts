// The end of a connection to a database that may not answer any more.
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { endConnection } from '../../../../src/store/postgres/end-connection.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function stage(end: () => Promise<void>) {
  const did: string[] = [];
  const client = { end, connection: { stream: { destroy: () => did.push('closed') } } };
  const ended = endConnection(client).then(() => did.push('ended'));
  return { did, ended };
}

it('a connection whose end is not answered is closed after a second', async () => {
  const { did, ended } = stage(() => new Promise(() => undefined));
  await vi.advanceTimersByTimeAsync(999);
  expect(did).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  await ended;
  expect(did).toEqual(['closed', 'ended']);
});

it('a connection that cannot be ended is no failure, and leaves no timer', async () => {
  await stage(() => Promise.reject(new Error('Connection terminated'))).ended;
  expect(vi.getTimerCount()).toBe(0);
});
