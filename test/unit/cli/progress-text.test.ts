// The line that shows the progress of a command.
import { describe, expect, it, test } from 'vitest';
import { progressLine, type RunningAccount, type Step } from '../../../src/cli/progress-text.ts';
import type { Activity } from '../../../src/core/ports/progress.ts';

function account(activity: Activity | Step, more: Partial<RunningAccount> = {}): RunningAccount {
  return { activity, sinceMs: 1000, doneBefore: 0, pausedUntilMs: 0, retries: 0, ...more };
}

/** The line of one account that began its activity at 1 s, at the given time. */
function lineOf(running: RunningAccount, nowMs = 1000, stopping: number | null = null): string | null {
  const work = { verb: 'applied', accounts: 1, done: 0, startedAtMs: 0, stopping };
  return progressLine({ ...work, running: new Map([['acme', running]]) }, nowMs);
}

const applying = (done: number, more: { failed?: number; doubtful?: number } = {}): Activity => ({
  type: 'apply',
  action: 'create',
  done,
  total: 500,
  failed: 0,
  doubtful: 0,
  ...more,
});

test.each<[string, Activity | Step]>([
  [
    'waiting for the lock, which is held by process 7 on web-1, up to 5 min',
    { type: 'lock', heldBy: 'process 7 on web-1', forMs: 300_000 },
  ],
  ['reading the lists of the service, 1 of 3', { type: 'lists', before: 'plan', read: 1 }],
  ['reading the lists again before deleting, 0 of 3', { type: 'lists', before: 'delete', read: 0 }],
  ['planning', { type: 'plan' }],
  [
    'the lists lack entries or assignments that the last ones had; reading them again in 2 s',
    { type: 'recheck', forMs: 2000 },
  ],
  [
    'waiting up to 35 s until the service has had time to finish what an interrupted run sent (8 operations)',
    { type: 'earlier', operations: 8, forMs: 35_000 },
  ],
  ['0 of 500 operations, 0 %', applying(0)],
  [
    '499 of 500 operations, 99 %, 2 failed, 1 without a clear answer',
    applying(499, { failed: 2, doubtful: 1 }),
  ],
  [
    'waiting up to 35 s until the lists show the outcome of 1 delete without a clear answer',
    { type: 'settle', action: 'delete', operations: 1, forMs: 34_001 },
  ],
  [
    'waiting up to 1 min 20 s until the list of roles, which was empty, shows the first create',
    { type: 'probe', kind: 'role', forMs: 80_000 },
  ],
  [
    'verifying: waiting up to 2 h 5 min until the lists show 500 changes',
    { type: 'verify', operations: 500, forMs: 7_500_000 },
  ],
  ['copying, 33 %', { type: 'step', text: 'copying', done: 1, total: 3 }],
  ['waiting (up to 1 h)', { type: 'step', text: 'waiting', forMs: 3_600_000 }],
])('the progress of an account reads “%s”', (text, activity) => {
  expect(lineOf(account(activity))).toBe(`acme: ${text}`);
});

describe('the progress of one account', () => {
  it('counts down what it waits for, and never below zero', () => {
    const wait = account({ type: 'verify', operations: 1, forMs: 35_000 });
    expect(lineOf(wait, 11_000)).toBe('acme: verifying: waiting up to 25 s until the lists show the change');
    expect(lineOf(wait, 99_000)).toContain('up to 0 s');
  });

  it('has a rate and the remaining time after half a second', () => {
    expect(lineOf(account(applying(60)), 1400)).toBe('acme: 60 of 500 operations, 12 %');
    expect(lineOf(account(applying(100)), 6000)).toBe('acme: 100 of 500 operations, 20 %, 20.0/s, 20 s left');
    expect(lineOf(account(applying(102), { doneBefore: 100 }), 61_000)).toContain('2.0/min, 3 h 19 min left');
    expect(lineOf(account(applying(500)), 26_000)).toBe('acme: 500 of 500 operations, 100 %, 20.0/s');
  });

  it('names the pause that the service requests, until it is over, and counts repeated requests', () => {
    const paused = account(applying(0), { pausedUntilMs: 30_000, retries: 1 });
    expect(lineOf(paused, 10_000)).toBe(
      'acme: 0 of 500 operations, 0 %, waiting 20 s, because the service limits requests, 1 retry',
    );
    expect(lineOf(paused, 30_000)).toBe('acme: 0 of 500 operations, 0 %, 1 retry');
  });

  it.each([
    [8, '8 requests in flight are completed'],
    [1, '1 request in flight is completed'],
    [0, 'no request is in flight'],
  ])('predicts nothing after a signal, and shows that %i requests are completed', (requests, text) => {
    const line = lineOf(account(applying(100)), 6000, requests);
    expect(line).toBe(`acme: 100 of 500 operations, 20 %, stopping: ${text}`);
  });
});

test('the progress of several accounts counts the complete ones and shows the one that runs the longest', () => {
  const planning = account({ type: 'plan' });
  const running = new Map([
    ['eu-1', planning],
    ['eu-2', planning],
  ]);
  const work = { verb: 'planned', accounts: 300, done: 10, startedAtMs: 0, stopping: null };
  expect(progressLine({ ...work, running }, 5000)).toBe(
    'planned 10 of 300 accounts, 2.0/s, 2 min 25 s left; eu-1: planning',
  );
  expect(progressLine({ ...work, running: new Map() }, 5000)).toBeNull();
});
