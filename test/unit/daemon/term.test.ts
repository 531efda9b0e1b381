// One term of a leader: which runs it makes at its start, for requests and at ticks, and what its runs know.
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { AccountRecord } from '../../../src/core/ports/journal-reader.ts';
import { createTerm, type DueRun } from '../../../src/daemon/term.ts';
import { testLog } from './notify/stage.ts';

const T0 = Date.parse('2026-06-01T10:00:00.000Z');
const MINUTE = 60_000;

beforeEach(() => {
  vi.useFakeTimers({
    now: T0,
    toFake: ['Date', 'setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'],
  });
  onTestFinished(() => void vi.useRealTimers());
});

/** A term of one account that ticks every five minutes, whose runs last until they are ended. */
function stage() {
  const runs: (Pick<DueRun, 'trigger' | 'nextTickMs'> & {
    readonly due: DueRun;
    readonly end: () => void;
  })[] = [];
  const skipped: string[] = [];
  const term = createTerm({
    epoch: 'epoch',
    clock: {
      nowMs: () => Date.now(),
      steadyMs: () => Date.now(),
      sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    },
    log: testLog(),
    signals: () => ({ stop: new AbortController().signal, kill: new AbortController().signal }),
    addressOf: () => 'https://eu.example.com',
    addressCount: () => 1,
    maxRuns: () => 8,
    onSkipped: (account) => void skipped.push(account),
  });
  onTestFinished(() => {
    for (const { end } of runs) end();
    return term.stop();
  });
  term.update([{ name: 'acme', schedule: '*/5 * * * *', timezone: 'Etc/UTC', jitterMs: 0 }]);
  const start = (): void =>
    term.start(
      (due) =>
        new Promise((end) => void runs.push({ due, trigger: due.trigger, nextTickMs: due.nextTickMs, end })),
    );
  return { term, runs, skipped, start, triggers: () => runs.map(({ trigger }) => trigger) };
}

function record(parts: {
  readonly nextTickMs: number | null;
  readonly isInterrupted?: boolean;
}): AccountRecord {
  const lastRun = { status: parts.isInterrupted === true ? 'interrupted' : 'converged' };
  return { name: 'acme', lastRun, nextTickMs: parts.nextTickMs } as AccountRecord; // only what the start reads
}

describe('the first run of an account', () => {
  it.each([
    ['always where each account runs at the start', { nextTickMs: T0 + MINUTE }, true, ['start']],
    ['for a tick that has passed since the last run', { nextTickMs: T0 - 5 * MINUTE }, false, ['catch_up']],
    ['not for a tick of another schedule', { nextTickMs: T0 - MINUTE }, false, []],
    ['for a tick that passes now', { nextTickMs: T0 }, false, ['catch_up']],
    ['after an interrupted one', { nextTickMs: T0 + MINUTE, isInterrupted: true }, false, ['start']],
    ['not before its next tick', { nextTickMs: T0 + MINUTE }, false, []],
    ['not where it never ran', { nextTickMs: null }, false, []],
  ] as const)('is made %s', (_, parts, isAlways, expected) => {
    const { term, start, triggers } = stage();
    term.startFirst('acme', record(parts), isAlways);
    start();
    expect(triggers()).toEqual(expected);
  });
});

it('a run knows the epoch and the tick after it, so that the next leader notices a missed one', async () => {
  const { runs, start } = stage();
  start();
  await vi.advanceTimersByTimeAsync(5 * MINUTE);
  expect(runs.map(({ trigger, nextTickMs, due }) => [trigger, nextTickMs, due.epoch])).toEqual([
    ['schedule', T0 + 10 * MINUTE, 'epoch'],
  ]);
});

const sync = (at: string, by: string) => ({ account: 'acme', trigger: 'manual', at, by }) as const;

it('a tick during a run is skipped and counted, and requests during a run make one more', async () => {
  const { term, runs, skipped, start, triggers } = stage();
  start();
  await vi.advanceTimersByTimeAsync(10 * MINUTE);
  expect([triggers(), skipped]).toEqual([['schedule'], ['acme']]);
  expect(term.request(sync('first', 'sam'))).toBe(true);
  expect(term.request(sync('first', 'sam'))).toBe(false);
  expect(term.request(sync('second', 'ada'))).toBe(true);
  runs[0]?.end();
  await vi.advanceTimersByTimeAsync(0);
  expect(triggers()).toEqual(['schedule', 'manual']);
  expect(runs.map(({ due }) => due.actor)).toEqual([null, 'ada']);
});

it('a run that must be made again follows a second later', async () => {
  const { runs, start, triggers } = stage();
  start();
  await vi.advanceTimersByTimeAsync(5 * MINUTE);
  runs[0]?.due.again();
  runs[0]?.end();
  await vi.advanceTimersByTimeAsync(900);
  expect(triggers()).toEqual(['schedule']);
  await vi.advanceTimersByTimeAsync(100);
  expect(triggers()).toEqual(['schedule', 'schedule']);
});

it('a term that has stopped starts nothing and has waited for its runs', async () => {
  const { term, runs, start, triggers } = stage();
  start();
  await vi.advanceTimersByTimeAsync(5 * MINUTE);
  let isStopped = false;
  const stopped = term.stop().then(() => (isStopped = true));
  await vi.advanceTimersByTimeAsync(10 * MINUTE);
  expect([triggers(), isStopped]).toEqual([['schedule'], false]);
  runs[0]?.end();
  await stopped;
  expect(term.request(sync('late', 'sam'))).toBe(false);
});
