// The pure parts of several replicas: next ticks, rooms by base address, leases by both clocks, generations of commits.
import { describe, expect, it } from 'vitest';
import type { CommitRelation } from '../../../src/core/repository.ts';
import type { StoredFiles } from '../../../src/core/turn-store.ts';
import { rankOf } from '../../../src/daemon/replicas/config-generation.ts';
import { laneRooms } from '../../../src/daemon/replicas/lane-rooms.ts';
import { createLeaseClock } from '../../../src/daemon/replicas/lease-clock.ts';
import { nextTick, ticksBetween } from '../../../src/daemon/replicas/next-tick.ts';

const MINUTE = 60_000;
const START = Date.UTC(2026, 0, 5, 10);

describe('the next tick', () => {
  const line = { schedule: '*/15 * * * *', timezone: 'Etc/UTC', jitterMs: 600_000 };
  const at = (minutes: number): number => START + minutes * MINUTE;

  it('is the first after the end of the run, with at most a tenth of the interval as jitter', () => {
    expect(nextTick(line, { failures: 0, lastTickMs: START }, at(16), 1)).toEqual({
      tickMs: at(30),
      dueMs: at(31.5),
      backoffUntilMs: null,
    });
  });

  it('is later after failures', () => {
    expect(nextTick(line, { failures: 2, lastTickMs: START }, at(1), 0)).toEqual({
      tickMs: at(30),
      dueMs: at(30),
      backoffUntilMs: at(30),
    });
  });

  it('is not repeated when the clock of the database is set back a little', () => {
    expect(nextTick(line, { failures: 0, lastTickMs: at(15) }, at(14), 0).tickMs).toBe(at(30));
    expect(nextTick(line, { failures: 0, lastTickMs: at(45) }, at(14), 0).tickMs).toBe(at(15));
  });

  it('is counted as skipped when it passed during a run', () => {
    expect(ticksBetween(line, at(0), at(14))).toBe(0);
    expect(ticksBetween(line, at(0), at(45))).toBe(3);
  });
});

describe('the rooms of base addresses', () => {
  const rooms = (loads: readonly (readonly [string, number])[], maxRuns: number) =>
    laneRooms(new Set(['eu', 'us']), new Map(loads), maxRuns);

  it('leave a quarter of the places to the other addresses', () => {
    expect(rooms([['eu', 6]], 8)).toEqual({ free: 2, rooms: [{ lane: 'us', room: 2 }] });
    expect(laneRooms(new Set(['eu']), new Map([['eu', 6]]), 8)).toEqual({
      free: 2,
      rooms: [{ lane: 'eu', room: 2 }],
    });
  });

  it('are shared, the address with the fewest runs first', () => {
    expect(rooms([['eu', 3]], 8)).toEqual({
      free: 5,
      rooms: [
        { lane: 'us', room: 3 },
        { lane: 'eu', room: 3 },
      ],
    });
    expect(rooms([['eu', 8]], 8)).toEqual({ free: 0, rooms: [] });
  });
});

describe('a lease', () => {
  function lease() {
    const time = { steady: 0, wall: START };
    const clock = createLeaseClock(
      {
        steadyMs: () => time.steady,
        nowMs: () => time.wall,
        sleep: () => Promise.resolve(),
        pause: () => Promise.resolve(),
      },
      1000,
    );
    return { time, clock };
  }

  it('is not valid before it was renewed', () => {
    expect(lease().clock.isValid()).toBe(false);
  });

  it.each([
    ['after its time', 1000, 1000],
    ['after the machine slept, when the steady clock stood still', 10, 1000],
    ['when the wall clock was set back meanwhile', 1000, -5000],
  ])('has ended %s', (_when, steady, wall) => {
    const { time, clock } = lease();
    clock.renewed(clock.now());
    time.steady += 999;
    time.wall += 999;
    expect(clock.isValid()).toBe(true);
    time.steady = steady;
    time.wall = START + wall;
    expect(clock.isValid()).toBe(false);
  });
});

describe('the rank of a configuration', () => {
  /** Commits by the number of their place in one line of history; `x…` are on another line, and `?…` unknown here. */
  function relation(a: string, b: string): CommitRelation {
    if (a === b) return 'same';
    if (a.startsWith('?') || b.startsWith('?')) return 'unknown';
    if (a.startsWith('x') !== b.startsWith('x')) return 'diverged';
    return a < b ? 'ancestor' : 'descendant';
  }

  /** `c1+a`: edits of a commit; `+a`: files without one; `…!`: with an invalid one. */
  function filesOf(name: string) {
    const [commit = ''] = name.split(/[!+]/u);
    return { commit, digest: name, flaws: 2 * Number(name.includes('+')) + Number(name.includes('!')) };
  }

  /** The files that were the newest, and those of the other replicas. */
  function stage(newest: readonly string[], others: readonly (string | StoredFiles | null)[] = []) {
    const generations = newest.map((name, index) => ({
      ...filesOf(name),
      gen: 2 * (index + 1),
      committedAt: `2026-01-0${index + 1}T00:00:00Z`,
    }));
    const rank = async (
      name: string,
      { committedAt = '2026-01-01T12:00:00Z', hadCommit = false, digest = name } = {},
    ) => {
      const { commit: sha, flaws } = filesOf(name);
      const commit = sha === '' ? null : { sha, committedAt, dirty: flaws > 1, authoredAt: '', subject: '' };
      const { generation, isNewest } = await rankOf(
        { commit, digest, flaws, hadCommit },
        {
          generations: generations.toReversed(),
          others: others.map((other, index) => ({
            id: String(index),
            files: typeof other === 'string' ? filesOf(other) : other,
          })),
        },
        async (a, b) => relation(a, b),
      );
      return isNewest ? `newest ${generation / 2}` : `contains ${generation / 2}`;
    };
    return { rank };
  }

  it('grows with a commit that follows the newest', async () => {
    expect(await stage([]).rank('c1')).toBe('newest 1');
    const { rank } = stage(['c1'], ['c1']);
    expect([await rank('c1'), await rank('c2')]).toEqual(['newest 1', 'newest 2']);
  });

  it('of an older commit is that of the latest which it contains', async () => {
    const { rank } = stage(['c2', 'c4', 'c6'], ['c6']);
    expect([await rank('c5'), await rank('c4'), await rank('c3'), await rank('c1')]).toEqual([
      'contains 2',
      'contains 2',
      'contains 1',
      'contains 0.5',
    ]);
  });

  it('of an older commit is not the newest, also when every replica has returned to it', async () => {
    expect(await stage(['c1', 'c2'], ['c1', 'c1']).rank('c1')).toBe('contains 1');
    expect(await stage(['c1', 'c2']).rank('c1')).toBe('contains 1');
  });

  it('does not grow with a rewritten history until every replica with a commit has it', async () => {
    expect(await stage(['c1', 'c2'], ['c2']).rank('x9')).toBe('contains 0.5');
    expect(await stage(['c1', 'c2'], ['x9', '+a']).rank('x9')).toBe('newest 3');
  });

  it('does not grow with a fresh clone of a rewritten history until every replica has it', async () => {
    const late = '2026-01-03T00:00:00Z';
    expect(await stage(['c1', 'c2'], ['c2']).rank('?', { committedAt: late })).toBe('contains 1');
    expect(await stage(['c1', 'c2'], ['?']).rank('?', { committedAt: late })).toBe('newest 3');
  });

  it('of a replica that has not fetched the newest commit stays older, also when it is alone', async () => {
    expect(await stage(['c1', '?']).rank('c1')).toBe('contains 1');
  });

  it('without a commit is older than any commit, unless no replica has one', async () => {
    expect(await stage(['c1', 'c2'], ['c1', null]).rank('+a')).toBe('contains 0.5');
    expect(await stage(['c1', 'c2'], ['+b', null]).rank('+a')).toBe('newest 3');
    expect(await stage(['+a'], ['+a']).rank('c1')).toBe('newest 2');
    expect(await stage([]).rank('+a')).toBe('newest 1');
  });

  it('without a commit is that of equal files, and never new in a process that had a commit', async () => {
    const { rank } = stage(['c1', 'c2'], [null]);
    expect(await rank('+a', { digest: 'c2' })).toBe('newest 2');
    expect(await rank('+a')).toBe('newest 3');
    expect(await rank('+a', { hadCommit: true })).toBe('contains 0.5');
    const inUse = { commit: '', digest: 'c2' };
    expect(await stage(['c1', 'c2'], [inUse]).rank('+a')).toBe('contains 0.5');
  });

  it('of an older commit is not the newest after files without a commit were', async () => {
    const { rank } = stage(['c1', 'c2', '+a']);
    expect([await rank('c1'), await rank('c2'), await rank('c3')]).toEqual([
      'contains 1',
      'newest 4',
      'newest 4',
    ]);
  });

  it.each([
    ['+a!', '+b'],
    ['c1!', 'c1'],
    ['c1+a!', 'c1+b'],
    ['c1+a', 'c1!'],
  ])('grows when the files of %s are replaced by %s, which have fewer flaws', async (worse, better) => {
    expect(await stage([worse], [worse]).rank(better)).toBe('newest 2');
    expect(await stage([better], [better]).rank(worse)).toBe('contains 0.5');
  });

  it.each([
    ['files without a commit', '+a', '+b'],
    ['edits of a commit', 'c1+a', 'c1+b'],
    ['edits of a committed file', 'c1', 'c1+b'],
  ])(
    'of other %s is lower, as long as another replica has those that were first',
    async (_what, first, own) => {
      const generations = ['c0', first];
      const { rank } = stage(generations, [first, null]);
      expect([await rank(first), await rank(own)]).toEqual(['newest 2', 'contains 1.5']);
      expect(await stage(generations, [own, null]).rank(own)).toBe('newest 3');
      const isCommit = !first.includes('+');
      expect(await stage([...generations, own], [own]).rank(first)).toBe(
        isCommit ? 'newest 4' : 'contains 2.5',
      );
    },
  );

  it('grows when edits are committed, with the commit that they belong to or a later one', async () => {
    const { rank } = stage(['c1', 'c2+a'], ['c2+a']);
    expect([await rank('c2'), await rank('c3'), await rank('c1')]).toEqual([
      'newest 3',
      'newest 3',
      'contains 1',
    ]);
  });
});
