// A run with 200,000 operations that are under way: whatever the journal does with it, this process stays responsive.
import { expect, test } from 'vitest';
import { fixture, runId, T0 } from '../unit/store/fixture.ts';

/** The longest time between two turns of the event loop while the work is under way, in milliseconds. */
async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  let longestMs = 0;
  let last = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    longestMs = Math.max(longestMs, now - last);
    last = now;
  }, 1);
  await work();
  // What the work did last counts as well.
  await new Promise((resolve) => setTimeout(resolve, 5));
  clearInterval(timer);
  return Math.round(longestMs);
}

test(
  '200,000 operations are counted, ended, interrupted and pruned without a long turn',
  { timeout: 120_000 },
  async () => {
    const store = fixture();
    const pending = (id: string): void =>
      store.execute(
        `with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < 200000)
       insert into operations (run_id, seq, kind, action, name, remote_id, status)
       select ?, n, 'skill', 'delete', 'Skill ' || n, 'id-' || n, 'pending' from numbers`,
        id,
      );
    const first = await store.begin(1);
    pending(first);
    const longest: Record<string, number> = {};
    const timed = async (what: string, work: () => Promise<unknown>): Promise<void> => {
      longest[what] = await longestTurn(work);
    };
    await timed('accounts', () => store.reader.accounts());
    await timed('head', () => store.reader.runHead(first));
    await timed('end', () =>
      store.journal.endRun(first, {
        status: 'failed',
        finishedAtMs: T0,
        counts: null,
        traffic: { requests: 0, retries: 0 },
        planDigest: null,
        errorCode: 'x',
        error: 'x',
        warnings: [],
      }),
    );
    const second = await store.begin(2);
    pending(second);
    await timed('interrupt', () => store.locks.acquire('acme', runId(3), T0));
    const rows = store.rows('select status, count(*) as count from operations group by 1');
    expect(rows).toEqual([{ status: 'skipped', count: 400_000 }]);
    await timed('prune', () =>
      store.prune({ runsMs: 0, snapshotsMs: 0, keepAtLeast: 0 }, T0 + 400 * 86_400_000),
    );
    expect(store.rows('select count(*) as count from operations')).toEqual([{ count: 0 }]);
    expect(Math.max(...Object.values(longest))).toBeLessThan(250);
  },
);
