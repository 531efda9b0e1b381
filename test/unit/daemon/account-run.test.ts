// What a run does when its account is locked, when another process leads, and when the store cannot be used.
import { expect, it } from 'vitest';
import { StoreError } from '../../../src/core/errors.ts';
import type { Trigger } from '../../../src/core/journal.ts';
import { type AccountRunsOptions, createAccountRuns } from '../../../src/daemon/account-run.ts';
import type { DueRun } from '../../../src/daemon/term.ts';
import { testLog } from './notify/stage.ts';
import { virtualClock } from './virtual-clock.ts';

interface Scene {
  readonly acquire?: () => Promise<unknown>;
  readonly isInvalid?: boolean;
  readonly isOlder?: boolean;
  readonly isStopping?: boolean;
  readonly isPaused?: boolean;
}

/** Runs one account, and resolves with what its run did. */
async function runWith(trigger: Trigger, scene: Scene): Promise<readonly string[]> {
  const did: string[] = [];
  const note = (what: string) => () => void did.push(what);
  const { acquire = async () => ({ heldBy: 'a command' }) } = scene;
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
    leadership: { mayRun: async () => scene.isOlder !== true },
    notifier: { runEnded: async () => note('ended')() },
    deps: {
      clock: virtualClock(0),
      newRunId: () => 'run',
      journal: {
        accountState: async () => ({ pause: scene.isPaused === true ? {} : null, pending: null }),
        recordFailedRun: async () => note('journaled')(),
      },
      locks: { acquire },
    },
    log: testLog(),
    metrics: { skippedTick: note('skipped'), runFailed: () => undefined, account: () => undefined },
  } as unknown as AccountRunsOptions); // only what such a run uses
  const due: DueRun = {
    account: 'acme',
    trigger,
    actor: null,
    epoch: 'epoch',
    nextTickMs: null,
    signals: {
      stop: scene.isStopping === true ? AbortSignal.abort() : new AbortController().signal,
      kill: new AbortController().signal,
    },
    again: note('again'),
  };
  await runs.run(due);
  if (runs.problem() !== null) did.push('failed');
  return did;
}

const fails = (code: string) => () => Promise.reject(new StoreError(code, 'failed'));

it.each(['manual', 'approval', 'start'] as const)(
  'a run that was requested (%s) follows the run of a command that holds the lock',
  async (trigger) => {
    expect(await runWith(trigger, {})).toEqual(['again']);
  },
);

it('a tick is skipped while a command holds the lock', async () => {
  expect(await runWith('schedule', {})).toEqual(['skipped']);
});

it('a paused account runs only because an operator requests it', async () => {
  for (const trigger of ['schedule', 'catch_up', 'start', 'approval'] as const)
    expect(await runWith(trigger, { isPaused: true })).toEqual([]);
  expect(await runWith('manual', { isPaused: true })).toEqual(['again']);
});

it('the run of an invalid file is journaled, and no run is made with files that are older than those of the last leader', async () => {
  expect(await runWith('schedule', { isInvalid: true })).toContain('journaled');
  expect(await runWith('schedule', { isInvalid: true, isOlder: true })).toEqual([]);
});

it('a run that another leader makes is no failure', async () => {
  expect(await runWith('schedule', { acquire: fails('lock_lost') })).toEqual([]);
});

it('a run without a store is a failure, and one that the database did not answer is made again', async () => {
  expect(await runWith('schedule', { acquire: fails('store_unopenable') })).toEqual(['failed']);
  expect(await runWith('schedule', { acquire: fails('store_unavailable') })).toEqual(['again']);
});

it('a run that cannot be journaled is a problem of the daemon, unless the daemon stops', async () => {
  expect(await runWith('schedule', { acquire: fails('store_failed') })).toEqual(['failed']);
  expect(await runWith('schedule', { acquire: fails('store_failed'), isStopping: true })).toEqual([]);
});
