// Log lines for a terminal.
import { expect, it, vi } from 'vitest';
import { readableLine } from '../../../src/daemon/log.ts';

it('on a terminal each event is one line, with the account, what happened and the run', () => {
  vi.stubEnv('NO_COLOR', '1');
  const shown = (data: object, level = 30) => {
    const time = new Date(2026, 10, 26, 16, 19, 13).toISOString();
    return readableLine(JSON.stringify({ level, time, msg: 'run ended', ...data }));
  };
  const end = { event: 'run_ended', account: 'big', runId: '01a20930-0f7b-7000-8000-000000000000' };
  const counts = {
    created: 112,
    deleted: 4,
    held: 299,
    failed: 0,
    seconds: 41.26,
    mode: 'apply',
    actor: 'x',
  };
  const run = 'run 01a20930-0f7b\n';
  expect(shown({ ...end, ...counts, status: 'held' })).toBe(
    `16:19:13  big  112 created, 4 deleted, 299 held in 41.3 s  ${run}`,
  );
  const none = { ...counts, created: 0, deleted: 0, held: 0, seconds: 0.2 };
  expect(shown({ ...end, ...none, status: 'converged' })).toBe(`16:19:13  big  converged in 200 ms  ${run}`);
  const failed = { ...none, failed: 1, status: 'partial', code: 'unauthorized', error: 'no\n\u001b[2J' };
  expect(shown({ ...end, ...failed }, 50)).toBe(
    `16:19:13  big  error: partial: 1 failed in 200 ms; unauthorized: no\\u000a\\u001b[2J  ${run}`,
  );
  const data = {
    digest: `sha256:${'ab'.repeat(32)}`,
    kept: 0,
    none: null,
    file: 'a b',
    list: ['x'],
    on: true,
  };
  expect(shown({ event: 'planned', msg: 'the plan has changes', ...data }, 40)).toBe(
    '16:19:13  warning: the plan has changes digest=abababababab file="a b" list=["x"] on=true\n',
  );
});
