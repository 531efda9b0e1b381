import { describe, expect, it, test } from 'vitest';
import { createProgressModel } from '../../../src/cli/progress-model.ts';
import type { Step } from '../../../src/cli/progress-text.ts';
import type { Activity } from '../../../src/core/progress.ts';

const running = () => null;

/** The line of one account that began this activity at 1 s, at the given time. */
function lineOf(activity: Activity | Step, nowMs = 1000): string | null {
  const model = createProgressModel({ verb: 'applied', accounts: 1 }, running);
  model.start('acme', 0);
  model.note('acme', activity, 1000);
  return model.line(nowMs);
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
    { type: 'settle', action: 'delete', operations: 1, forMs: 35_000 },
  ],
  [
    'waiting up to 35 s until the list of roles, which was empty, shows the first create',
    { type: 'probe', kind: 'role', forMs: 35_000 },
  ],
  [
    'verifying: waiting up to 35 s until the lists show 500 changes',
    { type: 'verify', operations: 500, forMs: 35_000 },
  ],
  ['copying, 33 %', { type: 'step', text: 'copying', done: 1, total: 3 }],
  ['waiting (up to 10 min)', { type: 'step', text: 'waiting', forMs: 600_000 }],
])('the progress of an account reads “%s”', (text, activity) => {
  expect(lineOf(activity)).toBe(`acme: ${text}`);
});

describe('the progress of one account', () => {
  it('counts down what it waits for, and never below zero', () => {
    const wait: Activity = { type: 'verify', operations: 1, forMs: 35_000 };
    expect(lineOf(wait, 11_000)).toBe('acme: verifying: waiting up to 25 s until the lists show the change');
    expect(lineOf(wait, 99_000)).toContain('up to 0 s');
  });

  it('has a rate and the remaining time', () => {
    const model = createProgressModel({ verb: 'applied', accounts: 1 }, running);
    model.start('acme', 0);
    for (let second = 0; second <= 5; second += 1) model.note('acme', applying(second * 20), second * 1000);
    expect(model.line(5000)).toBe('acme: 100 of 500 operations, 20 %, 20.0/s, 20 s left');
  });

  it('names the pause that the service requests, until it is over, and counts repeated requests', () => {
    const model = createProgressModel({ verb: 'applied', accounts: 1 }, running);
    model.start('acme', 0);
    model.note('acme', applying(1), 0);
    model.retried('acme');
    model.paused('acme', 30_000, 0);
    expect(model.line(10_000)).toBe(
      'acme: 1 of 500 operations, 0 %, waiting 20 s, because the service limits requests, 1 retry',
    );
    expect(model.line(30_000)).toBe('acme: 1 of 500 operations, 0 %, 1 retry');
  });

  it('shows after a signal how many requests are still completed, and predicts nothing', () => {
    let requests: number | null = null;
    const model = createProgressModel({ verb: 'applied', accounts: 1 }, () => requests);
    model.start('acme', 0);
    model.note('acme', applying(0), 0);
    model.note('acme', applying(100), 5000);
    requests = 8;
    expect(model.line(5000)).toBe(
      'acme: 100 of 500 operations, 20 %, stopping: 8 requests in flight are completed',
    );
    requests = 1;
    expect(model.line(5000)).toContain('stopping: 1 request in flight is completed');
    requests = 0;
    expect(model.line(5000)).toContain('stopping: no request is in flight');
  });

  it('enters another phase with another activity, but not with another count', () => {
    const model = createProgressModel({ verb: 'applied', accounts: 1 }, running);
    model.start('acme', 0);
    const phases = [
      { type: 'lists', before: 'plan', read: 1 } as const,
      { type: 'lists', before: 'plan', read: 2 } as const,
      applying(1),
      applying(2),
      { ...applying(3), action: 'delete' } as const,
    ].map((activity) => {
      model.note('acme', activity, 0);
      return model.phase();
    });
    expect(phases).toEqual(['lists', 'lists', 'apply create', 'apply create', 'apply delete']);
  });

  it('is nothing before it starts and after it ends', () => {
    const model = createProgressModel({ verb: 'applied', accounts: 1 }, running);
    expect([model.line(0), model.block(0)]).toEqual([null, []]);
    model.start('acme', 0);
    model.end('acme', 10);
    expect([model.line(10), model.block(10)]).toEqual([null, []]);
  });
});

describe('the progress of several accounts', () => {
  const eight = Array.from({ length: 8 }, (_, at) => `eu-${at + 1}`);

  it('counts the complete ones, and shows five of those that run longer than a second', () => {
    const model = createProgressModel({ verb: 'planned', accounts: 300 }, running);
    model.start('quick', 0);
    model.end('quick', 500);
    for (const name of eight) model.start(name, 500);
    for (const name of eight) model.note(name, { type: 'plan' }, 500);
    expect(model.block(1000)).toEqual(['planned 1 of 300 accounts, 1.0/s, 4 min 59 s left']);
    expect(model.block(2500)).toEqual([
      'planned 1 of 300 accounts, 24/min, 12 min 28 s left',
      '  eu-1: planning',
      '  eu-2: planning',
      '  eu-3: planning',
      '  eu-4: planning',
      '  eu-5: planning',
      '  and 3 other accounts running',
    ]);
  });

  it('is one line in a log, with the account that runs the longest', () => {
    const model = createProgressModel({ verb: 'planned', accounts: 300 }, running);
    for (const name of eight) model.start(name, 0);
    expect(model.line(500)).toBe('planned 0 of 300 accounts');
    expect(model.line(1000)).toBe('planned 0 of 300 accounts; eu-1: starting; 7 more running');
  });

  it('enters no other phase when one of them does', () => {
    const model = createProgressModel({ verb: 'planned', accounts: 2 }, running);
    model.start('a', 0);
    const before = model.phase();
    model.note('a', { type: 'plan' }, 0);
    expect(model.phase()).toBe(before);
  });
});
