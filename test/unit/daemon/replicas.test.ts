// The pure parts of several replicas: next ticks, rooms by base address, leases by both clocks, generations of commits.
import { describe, expect, it } from 'vitest';
import type { CommitRelation } from '../../../src/core/repository.ts';
import type { ConfigGeneration } from '../../../src/core/turn-store.ts';
import { findGeneration } from '../../../src/daemon/replicas/config-generation.ts';
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
      { steadyMs: () => time.steady, nowMs: () => time.wall, sleep: () => Promise.resolve() },
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

describe('the generation of a commit', () => {
  /** Commits by the number of their place in one line of history; `x…` are on another line. */
  function relation(a: string, b: string): CommitRelation {
    if (a === b) return 'same';
    if (a.startsWith('?') || b.startsWith('?')) return 'unknown';
    if (a.startsWith('x') !== b.startsWith('x')) return 'diverged';
    return a < b ? 'ancestor' : 'descendant';
  }

  function stage(commits: readonly string[], isCommitOfAll = false) {
    const known: ConfigGeneration[] = commits.map((commit, index) => ({
      gen: index + 1,
      commit,
      committedAt: `2026-01-0${index + 1}T00:00:00Z`,
    }));
    const store = {
      generations: async () => known.toReversed(),
      async addGeneration(after: number, next: Omit<ConfigGeneration, 'gen'>) {
        if (known.length !== after) return false;
        known.push({ gen: after + 1, ...next });
        return true;
      },
      isCommitOfAll: async () => isCommitOfAll,
    };
    const compareCommits = async (a: string, b: string) => relation(a, b);
    const find = async (sha: string | null, committedAt = '2026-01-01T12:00:00Z') =>
      await findGeneration(
        sha === null ? null : { sha, committedAt, dirty: false, authoredAt: '', subject: '' },
        {
          store,
          replicaId: 'own',
          compareCommits,
        },
      );
    return { find, known };
  }

  it('grows with a commit that follows the newest', async () => {
    const { find, known } = stage([]);
    expect([await find('c1'), await find('c1'), await find('c2')]).toEqual([1, 1, 2]);
    expect(known.map(({ commit }) => commit)).toEqual(['c1', 'c2']);
  });

  it('of an older commit is that of the latest which it contains', async () => {
    const { find, known } = stage(['c2', 'c4', 'c6']);
    expect([await find('c5'), await find('c4'), await find('c3'), await find('c1')]).toEqual([2, 2, 1, 0]);
    expect(known).toHaveLength(3);
  });

  it('does not grow with a rewritten history until every replica has it', async () => {
    expect(await stage(['c1', 'c2']).find('x9')).toBe(0);
    expect(await stage(['c1', 'c2'], true).find('x9')).toBe(3);
  });

  it('depends on the dates where the order of commits is not known', async () => {
    expect(await stage(['c1', 'c2']).find('?', '2026-01-03T00:00:00Z')).toBe(3);
    expect(await stage(['c1', 'c2']).find('?', '2026-01-01T12:00:00Z')).toBe(1);
  });

  it('is the newest for a configuration without git', async () => {
    expect([await stage(['c1', 'c2']).find(null), await stage([]).find(null)]).toEqual([2, 0]);
  });
});
