// A run with 40,000 operations that are under way, more than the limits of lists allow: whatever the journal does with it, this
// process answers within a second.
import { expect, test } from 'vitest';
import { sqliteFixture, runId, T0 } from '../unit/store/fixture.ts';

/** The longest processor time of one turn of the event loop during the work, in milliseconds. */
async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  let longestMs = 0;
  let last = process.cpuUsage();
  const timer = setInterval(() => {
    const { user, system } = process.cpuUsage(last);
    longestMs = Math.max(longestMs, (user + system) / 1000);
    last = process.cpuUsage();
  }, 1);
  await work();
  // What the work did last counts as well.
  await new Promise((resolve) => setTimeout(resolve, 5));
  clearInterval(timer);
  return Math.round(longestMs);
}

test(
  '40,000 operations are counted, ended, interrupted, and pruned without blocking the event loop for a second',
  { timeout: 120_000 },
  async () => {
    const store = sqliteFixture();
    const write = (id: string, status: string): void =>
      store.execute(
        `with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < 40000)
       insert into operations (run_id, seq, kind, action, name, remote_id, status)
       select ?, n, 'skill', 'delete', 'Skill ' || n, 'id-' || n, ? from numbers`,
        id,
        status,
      );
    const first = await store.begin(1);
    write(first, 'pending');
    const longest: Record<string, number> = {};
    const timed = async (what: string, work: () => Promise<unknown>): Promise<void> => {
      longest[what] = await longestTurn(work);
    };
    await timed('accounts', () => store.reader.accounts());
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
    write(second, 'pending');
    await timed('interrupt', async () => {
      const attempt = await store.locks.acquire('acme', runId(3), T0);
      if ('lease' in attempt) await store.locks.release(attempt.lease);
    });
    const rows = store.rows('select status, count(*) as count from operations group by 1');
    expect(rows).toEqual([{ status: 'skipped', count: 80_000 }]);
    // The latest run is never deleted.
    await store.end(await store.begin(3));
    await timed('prune', () => store.prune(0, T0 + 400 * 86_400_000));
    expect(store.rows('select count(*) as count from operations')).toEqual([{ count: 0 }]);
    console.log(longest);
    expect(Math.max(...Object.values(longest))).toBeLessThan(1000);
  },
);
