// The line that shows the progress of a command.
import { describe, expect, it, test } from 'vitest';
import { progressLine, type RunningAccount, type Step } from '../../../src/cli/progress.ts';
import type { Activity } from '../../../src/core/ports/progress.ts';

/** The line of one account that began its activity at 1 s, at the given time. */
function lineOf(activity: Activity | Step, nowMs = 1000, doneBefore = 0): string | null {
  const running: RunningAccount = { activity, sinceMs: 1000, doneBefore };
  const work = { verb: 'applied', accounts: 1, done: 0, startedAtMs: 0 };
  return progressLine({ ...work, running: new Map([['acme', running]]) }, nowMs);
}

const applying = (done: number): Activity => ({
  type: 'apply',
  action: 'create',
  done,
  total: 500,
  failed: 0,
  doubtful: 0,
});

test.each<[string, Activity | Step]>([
  [
    'waiting for the lock, which is held by process 7 on web-1 (up to 5 min 0 s)',
    { type: 'lock', heldBy: 'process 7 on web-1', forMs: 300_000 },
  ],
  ['reading the lists of the service, 1 of 3', { type: 'lists', before: 'plan', read: 1 }],
  [
    'the lists lack entries or assignments that the last ones had; reading them again (up to 2 s)',
    { type: 'recheck', forMs: 2000 },
  ],
  ['499 of 500 operations, 99 %', applying(499)],
  ['waiting until the lists show the changes (up to 35 s)', { type: 'verify', operations: 1, forMs: 34_001 }],
  ['copying, 33 %', { type: 'step', text: 'copying', done: 1, total: 3 }],
])('the progress of an account reads “%s”', (text, activity) => {
  expect(lineOf(activity)).toBe(`acme: ${text}`);
});

describe('the progress of one account', () => {
  it('counts down what it waits for, and never below zero', () => {
    const wait: Activity = { type: 'verify', operations: 1, forMs: 35_000 };
    expect(lineOf(wait, 11_000)).toContain('(up to 25 s)');
    expect(lineOf(wait, 99_000)).toContain('(up to 0 s)');
  });

  it('has a rate and the remaining time after half a second', () => {
    expect(lineOf(applying(60), 1400)).toBe('acme: 60 of 500 operations, 12 %');
    expect(lineOf(applying(100), 6000)).toBe('acme: 100 of 500 operations, 20 %, 20.0/s, 20 s left');
    expect(lineOf(applying(200), 6000, 100)).toContain('20.0/s, 15 s left');
    expect(lineOf(applying(500), 26_000)).toBe('acme: 500 of 500 operations, 100 %, 20.0/s');
  });
});

test('the progress of several accounts counts the complete ones, and those that do the same as the one that runs the longest', () => {
  const at = { sinceMs: 1000, doneBefore: 0 };
  const running = new Map<string, RunningAccount>([
    ['eu-1', { activity: { type: 'plan' }, ...at }],
    ['eu-2', { activity: { type: 'lists', before: 'plan', read: 1 }, ...at }],
    ['eu-3', { activity: { type: 'plan' }, ...at }],
  ]);
  const work = { verb: 'planned', accounts: 300, done: 10, startedAtMs: 0 };
  expect(progressLine({ ...work, running }, 5000)).toBe(
    'planned 10 of 300 accounts, 2.0/s, 2 min 25 s left; eu-1 and 1 more: planning',
  );
  expect(progressLine({ ...work, running: new Map() }, 5000)).toBeNull();
});
