// The rate and the concurrency of requests, as the server sees them.
import { describe, expect, it } from 'vitest';
import type { Arrived } from './loopback.ts';
import { accountAt } from './account-at.ts';
import { client, connect, json, newSignals, serve } from './loopback.ts';

/** The most requests in any window of a second. */
function mostInASecond(arrived: readonly Arrived[]): number {
  return Math.max(
    ...arrived.map(
      ({ atMs }) => arrived.filter((other) => other.atMs >= atMs && other.atMs < atMs + 1000).length,
    ),
  );
}

const lists = (reader: Awaited<ReturnType<typeof client>>['reader'], count: number) =>
  Promise.all(Array.from({ length: count }, () => reader.listEntries('skill')));

/** Answers after a moment, and counts the most calls at one time. */
async function slowServer() {
  let underWay = 0;
  let most = 0;
  const server = await serve(async (response) => {
    underWay += 1;
    most = Math.max(most, underWay);
    await new Promise((resolve) => setTimeout(resolve, 20));
    underWay -= 1;
    json(response, []);
  });
  return { ...server, most: () => most };
}

describe('an account', () => {
  it('receives no more requests than its rate in any second', async () => {
    const server = await serve((response) => json(response, []));
    const { reader } = await client(server.url, { requestsPerSecond: 10, concurrency: 10 });
    await lists(reader, 25);
    expect(server.arrived).toHaveLength(25);
    expect(mostInASecond(server.arrived)).toBeLessThanOrEqual(10);
  });

  it('has no more concurrent calls than its concurrency', async () => {
    const server = await slowServer();
    const { reader } = await client(server.url, { concurrency: 3 });
    await lists(reader, 12);
    expect(server.most()).toBe(3);
  });
});

describe('a host', () => {
  it('has no more concurrent calls than hostConcurrency, over all its accounts', async () => {
    const server = await slowServer();
    const connections = connect({ concurrency: 4, hostConcurrency: 5 });
    const { signals } = newSignals();
    const readers = await Promise.all(
      ['a', 'b', 'c'].map((name) => connections.reader(accountAt(server.url, name), signals)),
    );
    await Promise.all(readers.map((reader) => lists(reader, 6)));
    expect([server.arrived.length, server.most()]).toEqual([18, 5]);
  });
});
