// Which run starts next: a limited number at a time, each account once, and none blocked by one slow address.
import { describe, expect, it, vi } from 'vitest';
import { createRunQueue, addressLimit } from '../../../src/daemon/run-queue.ts';

/** A queue whose runs end when the test ends them. */
function setUp({ maxRuns = 4, addresses = 2 } = {}) {
  const started: string[] = [];
  const moved = new Map<string, string>();
  const ends = new Map<string, () => void>();
  const queue = createRunQueue({
    addressOf: (account) => moved.get(account) ?? account.slice(0, 1),
    addressCount: () => addresses,
    maxRuns: () => maxRuns,
  });
  queue.start((account) => {
    started.push(account);
    return new Promise((resolve) => ends.set(account, resolve));
  });
  return {
    queue,
    started,
    moved,
    end: async (account: string) => {
      ends.get(account)?.();
      ends.delete(account);
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

describe('the queue of runs', () => {
  it('runs at most maxRuns accounts at a time, in the order of their requests', async () => {
    const { queue, started, end } = setUp({ maxRuns: 2, addresses: 1 });
    for (const account of ['a1', 'a2', 'a3', 'a4']) queue.request(account, 'schedule');
    expect(started).toEqual(['a1', 'a2']);
    expect([queue.activity('a1'), queue.activity('a3'), queue.activity('zz')]).toEqual([
      'running',
      'queued',
      'idle',
    ]);
    await end('a2');
    expect(started).toEqual(['a1', 'a2', 'a3']);
  });

  it('starts nothing before it is started, and then what was requested', async () => {
    const started: string[] = [];
    const queue = createRunQueue({ addressOf: () => '', addressCount: () => 1, maxRuns: () => 2 });
    expect([queue.request('a1', 'schedule'), queue.requestOneMore('a2', 'manual')]).toEqual([true, true]);
    expect([queue.activity('a1'), queue.request('a1', 'schedule')]).toEqual(['queued', false]);
    queue.start(async (account) => void started.push(account));
    expect(started).toEqual(['a1', 'a2']);
    await queue.stop();
  });

  it('accepts an account only once', async () => {
    const { queue, started, end } = setUp();
    expect(queue.request('a1', 'schedule')).toBe(true);
    expect(queue.request('a1', 'manual')).toBe(false);
    await end('a1');
    expect(queue.request('a1', 'manual')).toBe(true);
    expect(started).toEqual(['a1', 'a1']);
  });

  it('turns a waiting run into a manual one when an operator requests one more', async () => {
    const triggers: string[] = [];
    const ends: (() => void)[] = [];
    const queue = createRunQueue({ addressOf: () => '', addressCount: () => 1, maxRuns: () => 1 });
    queue.start((account, trigger) => {
      triggers.push(`${account} ${trigger}`);
      return new Promise((resolve) => ends.push(resolve));
    });
    queue.request('a1', 'schedule');
    queue.request('a2', 'schedule');
    expect([queue.requestOneMore('a2', 'manual'), queue.requestOneMore('a2', 'manual')]).toEqual([
      true,
      true,
    ]);
    for (const count of [2, 2]) {
      ends.at(-1)?.();
      await new Promise((resolve) => setImmediate(resolve));
      expect(triggers).toHaveLength(count);
    }
    expect(triggers).toEqual(['a1 schedule', 'a2 manual']);
  });

  it('starts no following run after it is stopped', async () => {
    const { queue, started, end } = setUp();
    queue.request('a1', 'schedule');
    queue.requestOneMore('a1', 'manual');
    const stopped = queue.stop();
    await end('a1');
    await stopped;
    expect([started, queue.requestOneMore('a1', 'manual')]).toEqual([['a1'], false]);
  });

  it('keeps a quarter of all places free for other addresses than a slow one', async () => {
    const { queue, started, end } = setUp({ maxRuns: 4 });
    for (let n = 0; n < 50; n += 1) queue.request(`s${n}`, 'schedule');
    expect(started).toEqual(['s0', 's1', 's2']);
    for (let n = 0; n < 20; n += 1) {
      queue.request(`f${n}`, 'schedule');
      expect(started.at(-1)).toBe(`f${n}`);
      await end(`f${n}`);
    }
    expect(started.filter((account) => account.startsWith('s'))).toHaveLength(3);
  });

  it('gives a place that becomes free to the address with the fewest runs', async () => {
    const { queue, started, end } = setUp({ maxRuns: 4, addresses: 3 });
    for (const account of ['a1', 'a2', 'a3', 'b1', 'a4', 'a5', 'b2']) queue.request(account, 'schedule');
    expect(started).toEqual(['a1', 'a2', 'a3', 'b1']);
    await end('a1');
    expect(started.at(-1)).toBe('b2');
  });

  it('starts the account that has waited longest when several addresses have equally few runs', async () => {
    const { queue, started, end } = setUp({ maxRuns: 2, addresses: 3 });
    for (const account of ['a1', 'b1', 'c1', 'b2', 'a2']) queue.request(account, 'schedule');
    queue.requestOneMore('b2', 'manual');
    for (const account of ['a1', 'b1', 'c1', 'b2']) await end(account);
    expect(started).toEqual(['a1', 'b1', 'c1', 'b2', 'a2']);
  });

  it('counts the runs of an address also when its waiting accounts move to another', async () => {
    const { queue, started, moved, end } = setUp({ maxRuns: 4, addresses: 3 });
    for (const account of ['b1', 'b2', 'b3', 'b4', 'b5', 'b6', 'b7']) queue.request(account, 'schedule');
    for (const account of ['b4', 'b5', 'b6', 'b7']) moved.set(account, 'c');
    queue.updateAddresses();
    expect(started).toEqual(['b1', 'b2', 'b3', 'b4']);
    queue.request('a1', 'schedule');
    for (const account of ['b1', 'b2', 'b3']) await end(account);
    expect(started).toEqual(['b1', 'b2', 'b3', 'b4', 'a1', 'b5', 'b6']);
  });

  it('checks few of the waiting accounts for each start', async () => {
    const { queue, started, end } = setUp({ maxRuns: 2 });
    const accounts = Array.from({ length: 5000 }, (_, index) => `a${index}`);
    // Each check of an account asks whether it is in the set of those that must wait.
    const checked = vi.spyOn(Set.prototype, 'has');
    for (const account of accounts) queue.request(account, 'schedule');
    for (const account of accounts) await end(account);
    const checks = checked.mock.calls.length;
    checked.mockRestore();
    expect(started).toEqual(accounts);
    expect(checks).toBeGreaterThanOrEqual(accounts.length);
    expect(checks).toBeLessThan(3 * accounts.length);
  });

  it('limits an address to three quarters of the places, unless it is the only one or there is one place', () => {
    expect([
      addressLimit(8, 1),
      addressLimit(1, 3),
      addressLimit(2, 2),
      addressLimit(8, 2),
      addressLimit(32, 2),
    ]).toEqual([8, 1, 1, 6, 24]);
  });

  it('starts nothing after it is stopped, and waits for running accounts', async () => {
    const { queue, started, end } = setUp({ maxRuns: 1, addresses: 1 });
    queue.request('a1', 'schedule');
    queue.request('a2', 'schedule');
    let stopped = false;
    const stopping = queue.stop().then(() => (stopped = true));
    expect(queue.request('a3', 'manual')).toBe(false);
    await new Promise((resolve) => setImmediate(resolve));
    expect(stopped).toBe(false);
    await end('a1');
    await stopping;
    expect(started).toEqual(['a1']);
  });

  it('runs an account that was locked once more when the wait has ended, once for all requests', async () => {
    const { queue, started, end } = setUp();
    queue.requestOneMore('a1', 'manual');
    let endWait: () => void = () => undefined;
    queue.requestAfter('a1', 'manual', new Promise((resolve) => (endWait = resolve)));
    await end('a1');
    queue.request('b1', 'schedule');
    expect([started, queue.activity('a1'), queue.request('a1', 'schedule')]).toEqual([
      ['a1', 'b1'],
      'queued',
      false,
    ]);
    queue.requestOneMore('a1', 'manual');
    endWait();
    await end('b1');
    expect(started).toEqual(['a1', 'b1', 'a1']);
    await end('a1');
    expect(queue.activity('a1')).toBe('idle');
  });
});
