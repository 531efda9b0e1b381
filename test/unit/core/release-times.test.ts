// Releases by time, with their moment, and releases of several rules.
import { describe, expect, it } from 'vitest';
import { DAY_MS, utcTime } from '../../../src/core/durations-and-sizes.ts';
import { judgeHistory, type RecentOperation, NO_RECORDS } from '../../../src/core/history.ts';
import { entry, heldAs, NOW_MS, observed, person, plan } from './builders.ts';

const HOUR_MS = 3_600_000;
const old = { skill: [entry('Kept'), entry('Old')] };
const releaseOf = (of: Parameters<typeof plan>[0], name = 'Old') => heldAs(plan(of), name).release;

describe('a time in a plan', () => {
  it.each([0, NOW_MS, Date.UTC(2024, 1, 29, 23, 59, 59), Date.UTC(2026, 11, 31), Date.UTC(2100, 2, 1)])(
    'is UTC to the second (%d)',
    (ms) => {
      const iso = new Date(ms).toISOString();
      expect(utcTime(ms)).toBe(`${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`);
    },
  );

  it('is rounded up, because the rule has ended at that second', () => {
    expect(utcTime(1)).toBe('1970-01-01 00:00:01 UTC');
  });
});

describe('a release by time states its end', () => {
  it('for in_use, from the time at which somebody was last seen with it', () => {
    const of = { skills: ['Kept'], observed: old, policy: { unusedForMs: 2 * HOUR_MS } };
    const lastUsedMs = new Map([['skill:Old' as const, NOW_MS - HOUR_MS]]);
    expect(releaseOf({ ...of, history: { lastUsedMs } })).toContain('until 2026-03-10 13:00:00 UTC');
  });

  it('for flapping, of a create and of a delete', () => {
    const untilMs = NOW_MS + HOUR_MS;
    const create = { skills: ['New'], history: { flappingCreates: new Map([['skill:New', untilMs]]) } };
    expect(releaseOf(create, 'New')).toContain('after 2026-03-10 13:00:00 UTC');
    const history = { flappingDeletes: new Map([['skill:Old', untilMs]]) };
    expect(releaseOf({ skills: ['Kept'], observed: old, history })).toContain(
      'after 2026-03-10 13:00:00 UTC',
    );
  });

  it('for too_many, when enough earlier deletes are a day old', () => {
    const recentDeletesMs = [1, 2, 3, 4, 5].map((hours) => NOW_MS - hours * HOUR_MS);
    const of = { skills: ['Kept'], observed: old, history: { recentDeletesMs } };
    expect(releaseOf({ ...of, policy: { maxDeletes: 5 } })).toContain('until 2026-03-11 07:00:00 UTC');
    expect(releaseOf({ ...of, policy: { maxDeletes: 3 } })).toContain('until 2026-03-11 09:00:00 UTC');
    expect(releaseOf({ ...of, policy: { maxDeletes: 0 } })).not.toContain('wait');
  });

  it('for freeze, when the window ends', () => {
    const frozen = { window: '2026-03-09 to 2026-03-12', untilMs: Date.UTC(2026, 2, 13) };
    const of = { skills: ['Kept'], observed: old, input: { frozen } };
    expect(releaseOf(of)).toContain('until 2026-03-13 00:00:00 UTC');
    expect(releaseOf({ ...of, input: { frozen: { ...frozen, untilMs: null } } })).not.toContain('2026');
  });
});

describe('the times of the history', () => {
  const operation = (hoursAgo: number, of: Partial<RecentOperation> = {}): RecentOperation => ({
    runId: 'run',
    action: 'delete',
    kind: 'skill',
    name: 'a',
    remoteId: `${hoursAgo}`,
    status: 'done',
    attempts: 1,
    finishedAtMs: NOW_MS - hoursAgo * HOUR_MS,
    listed: true,
    ...of,
  });
  const judge = (recent: readonly RecentOperation[]) =>
    judgeHistory({ ...NO_RECORDS, recent }, observed(), {
      nowMs: NOW_MS,
      missingUse: new Set(),
      hasSnapshot: true,
      releasedRuns: new Map(),
    });

  it.each(['create', 'delete'] as const)(
    'of a flapping %s end its hold when the third last one is a day old',
    (action) => {
      const history = judge([2, 9, 4, 1].map((hours) => operation(hours, { action })));
      const until = action === 'create' ? history.flappingCreates : history.flappingDeletes;
      expect([...until]).toEqual([['skill:a', NOW_MS - 4 * HOUR_MS + DAY_MS]]);
    },
  );
});

describe('a release of several rules', () => {
  it('numbers the releases and states that all of them are needed', () => {
    const frozen = { window: 'nights', untilMs: null };
    const of = {
      skills: [],
      observed: { skill: [entry('Old')], resources: [person('p', ['Old'])] },
      input: { frozen },
    };
    expect(releaseOf(of)).toMatch(
      /^all of these are needed:\n\(1\) remove it from the people who have it.*\n\(2\) wait for the end/,
    );
    expect(releaseOf(of)).not.toContain('by itself');
  });
});
