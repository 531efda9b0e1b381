// What a run of the daemon does when its account is paused or invalid, and when the store cannot be used.
import { expect, it } from 'vitest';
import { StoreError } from '../../../src/core/errors.ts';
import type { Trigger } from '../../../src/core/journal.ts';
import { type AccountRunsOptions, createAccountRuns } from '../../../src/daemon/account-run.ts';
import { testLog } from './notify/stage.ts';
import { virtualClock } from './virtual-clock.ts';

interface Scene {
  readonly beginRun?: () => Promise<unknown>;
  readonly isInvalid?: boolean;
  readonly isStopping?: boolean;
  readonly isPaused?: boolean;
}

/** Runs one account, and resolves with what its run did. */
async function runWith(trigger: Trigger, scene: Scene): Promise<readonly string[]> {
  const did: string[] = [];
  const note = (what: string) => () => void did.push(what);
  const runs = createAccountRuns({
    registry: {
      onChange: () => undefined,
      refresh: async () => ({}),
      commit: async () => null,
      names: () => new Set(['acme']),
      account: () => ({
        settings: { name: 'acme', mode: 'apply', desired: {} },
        errors: scene.isInvalid === true ? [{ severity: 'error', message: 'invalid' }] : [],
      }),
    },
    notifier: { runEnded: async () => note('ended')() },
    deps: {
      clock: virtualClock(0),
      newRunId: () => 'run',
      journal: {
        accountState: async () => ({ pause: null, pending: null }),
        recordFailedRun: async () => note('journaled')(),
        beginRun: scene.beginRun ?? (async () => note('begun')()),
      },
    },
    log: testLog(),
    metrics: { runFailed: () => undefined, account: () => undefined },
  } as unknown as AccountRunsOptions); // only what such a run uses
  const again = await runs.run({
    account: 'acme',
    trigger,
    by: 'ann',
    isPaused: scene.isPaused === true,
    lease: { account: 'acme', runId: 'run', takenAtMs: 0 },
    signals: {
      stop: scene.isStopping === true ? AbortSignal.abort() : new AbortController().signal,
      kill: new AbortController().signal,
    },
  });
  if (runs.problem() !== null) did.push('failed');
  if (again !== null) did.push(`again: ${again.trigger} by ${again.by ?? ''}`);
  return did;
}

const fails = (code: string) => () => Promise.reject(new StoreError(code, 'failed'));

it('a paused account, whose lease was that of a process that died, runs only because an operator requests it', async () => {
  for (const trigger of ['schedule', 'catch_up', 'start', 'approval'] as const)
    expect(await runWith(trigger, { isPaused: true })).toEqual([]);
  expect(await runWith('manual', { isPaused: true })).toContain('begun');
});

it('the run of an invalid file is journaled', async () => {
  expect(await runWith('schedule', { isInvalid: true })).toContain('journaled');
});

it('a run whose lease was lost, or that the database did not answer, is made again for the same reason', async () => {
  expect(await runWith('manual', { beginRun: fails('lock_lost') })).toEqual(['again: manual by ann']);
  expect(await runWith('schedule', { beginRun: fails('store_unavailable') })).toEqual([
    'again: start by ann',
  ]);
});

it('a run that cannot be journaled is a problem of the daemon, unless the daemon stops', async () => {
  for (const code of ['store_failed', 'store_unopenable'])
    expect(await runWith('schedule', { beginRun: fails(code) })).toEqual(['failed']);
  expect(await runWith('schedule', { beginRun: fails('store_failed'), isStopping: true })).toEqual([
    'again: start by ann',
  ]);
});
