// The start of the daemon waits for the check of its store, but not forever, and not when the daemon is stopping.
import { EventEmitter, once } from 'node:events';
import { expect, it } from 'vitest';
import { StoreError } from '../../../src/core/errors.ts';
import { startStoreCheck } from '../../../src/daemon/store-check.ts';

const DAMAGE = new StoreError('store_corrupt', 'x.db: the store is damaged');
const NEVER = new AbortController().signal;

function recorder() {
  const events: unknown[] = [];
  const record = (data: object) => void events.push('event' in data ? data.event : null);
  return { events, log: { debug: record, info: record, warn: record, error: record } };
}

it('an intact store lets the daemon start', async () => {
  const { events, log } = recorder();
  expect(await startStoreCheck(async () => undefined, NEVER, log).endsWithin(10_000)).toBe(true);
  expect(events).toEqual(['store_checked']);
});

it('a damaged store keeps the daemon from starting', async () => {
  const { events, log } = recorder();
  const check = startStoreCheck(() => Promise.reject(DAMAGE), NEVER, log);
  await expect(check.endsWithin(10_000)).rejects.toBe(DAMAGE);
  expect(events).toEqual(['store_damaged']);
});

it('a check that cannot be made is logged, and the daemon starts', async () => {
  const { events, log } = recorder();
  const error = new StoreError('store_unchecked', 'x.db could not be checked');
  expect(await startStoreCheck(() => Promise.reject(error), NEVER, log).endsWithin(10_000)).toBe(true);
  expect(events).toEqual(['store_unchecked']);
});

it('a long check continues while the daemon runs, and its result is logged', async () => {
  const { events, log } = recorder();
  const finding = new EventEmitter();
  const check = once(finding, 'ok').then(() => undefined);
  expect(await startStoreCheck(() => check, NEVER, log).endsWithin(1)).toBe(false);
  finding.emit('error', DAMAGE);
  await check.catch(() => undefined);
  await new Promise((resolve) => setImmediate(resolve));
  expect(events).toEqual(['store_damaged']);
});

it('a check that is ended because the daemon stops reports nothing', async () => {
  const { events, log } = recorder();
  const stop = new AbortController();
  const verify = async () => {
    stop.abort();
    throw DAMAGE;
  };
  expect(await startStoreCheck(verify, stop.signal, log).endsWithin(10_000)).toBe(true);
  expect(events).toEqual([]);
});
