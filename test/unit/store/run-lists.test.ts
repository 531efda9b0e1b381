// The lists that pages show: pages of runs, the latest runs of several accounts, and what accounts are sorted by.
import { describe, expect, it } from 'vitest';
import { fixture, runId, T0 } from './fixture.ts';

const BY = { name: 'ada', via: 'cli' } as const;

describe('a page of runs', () => {
  it('continues behind a run, also when several runs started at the same time', async () => {
    const store = await fixture();
    for (const [n, atMs] of [1, 2, 2, 2, 3].entries()) {
      await store.end(await store.begin(n + 1, { account: `a${n}`, atMs: T0 + atMs }));
    }
    const all = (await store.reader.runs({ limit: 10 })).map(({ id }) => id);
    expect(all).toEqual([5, 4, 3, 2, 1].map(runId));
    for (const [index, id] of all.entries()) {
      const behind = await store.reader.runs({ limit: 10, after: id });
      expect(behind.map((run) => run.id)).toEqual(all.slice(index + 1));
    }
    expect(await store.reader.runs({ limit: 10, after: runId(9) })).toEqual([]);
  });
});

describe('the latest runs', () => {
  it('are those of the named accounts, newest first, at most so many of each', async () => {
    const store = await fixture();
    for (let n = 1; n <= 6; n += 1) {
      await store.end(await store.begin(n, { account: n % 2 === 0 ? 'even' : 'odd' }), 'held');
    }
    await store.end(await store.begin(7, { account: 'other' }));
    const runs = await store.reader.latestRuns(['odd', 'even', 'nobody'], 2);
    expect(runs.map(({ account, id }) => [account, id])).toEqual([
      ['even', runId(6)],
      ['even', runId(4)],
      ['odd', runId(5)],
      ['odd', runId(3)],
    ]);
    expect(runs[0]).toEqual({
      id: runId(6),
      account: 'even',
      status: 'held',
      startedAt: new Date(T0 + 6000).toISOString(),
      written: 0,
    });
    expect(await store.reader.latestRuns([], 2)).toEqual([]);
  });
});

it('finds the named accounts only', async () => {
  const store = await fixture();
  await store.end(await store.begin(1, { account: 'ran' }), 'held');
  await store.operator.operate({ action: 'pause', account: 'paused', reason: 'migration' }, BY, T0);
  const names = async (wanted?: readonly string[]): Promise<string[]> =>
    (await store.reader.accounts(wanted)).map(({ name }) => name);
  expect([await names(), await names(['ran', 'nobody'])]).toEqual([['paused', 'ran'], ['ran']]);
});
