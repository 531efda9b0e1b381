// What a run does when its account is locked, when another process makes it, and when the store cannot be used.
import { expect, it } from 'vitest';
import { StoreError } from '../../../src/core/errors.ts';
import type { Trigger } from '../../../src/core/journal.ts';
import type { Turn } from '../../../src/core/turns.ts';
import { type AccountRunsOptions, createAccountRuns } from '../../../src/daemon/account-run.ts';
import { testLog } from './notify/stage.ts';
import { virtualClock } from './virtual-clock.ts';

interface Scene {
  readonly acquire?: () => Promise<unknown>;
  readonly isInvalid?: boolean;
  readonly isMade?: boolean;
  readonly isGivenBack?: boolean;
  readonly isStopping?: boolean;
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
    turns: { ended: note('failed') },
    ending: { ended: async () => note('ended')() },
    deps: {
      clock: virtualClock(0),
      newRunId: () => 'run',
      journal: {
        accountState: async () => ({ pause: null, pending: null }),
        recordFailedRun: async () => note('journaled')(),
      },
      locks: { acquire },
    },
    log: testLog(),
    metrics: { skippedTick: note('skipped'), runFailed: () => undefined },
  } as unknown as AccountRunsOptions); // only what such a run uses
  const turn: Turn = {
    account: 'acme',
    trigger,
    permit: undefined,
    signals: {
      stop: scene.isStopping === true ? AbortSignal.abort() : new AbortController().signal,
      kill: new AbortController().signal,
    },
    isMade: async () => scene.isMade === true,
    later: note('later'),
    whenUnlocked: note('when unlocked'),
    storeFailed: () => scene.isGivenBack === true,
  };
  await runs.run(turn);
  return did;
}

const fails = (code: string) => () => Promise.reject(new StoreError(code, 'failed'));

it.each(['manual', 'approval', 'start'] as const)(
  'a run that was requested (%s) follows the run of a command that holds the lock',
  async (trigger) => {
    expect(await runWith(trigger, {})).toEqual(['when unlocked']);
  },
);

it('a tick is skipped while a command holds the lock', async () => {
  expect(await runWith('schedule', {})).toEqual(['skipped']);
});

it('the run of an invalid file is journaled unless another process makes it', async () => {
  expect(await runWith('schedule', { isInvalid: true })).toEqual(['journaled', 'ended']);
  expect(await runWith('schedule', { isInvalid: true, isMade: true })).toEqual([]);
});

it('a run that another process has made meanwhile is no failure', async () => {
  expect(await runWith('schedule', { acquire: fails('run_made') })).toEqual([]);
});

it('a run without a store is a failure, unless it is given back', async () => {
  expect(await runWith('schedule', { acquire: fails('store_unopenable') })).toEqual(['failed']);
  expect(await runWith('schedule', { acquire: fails('store_unopenable'), isGivenBack: true })).toEqual([]);
});

it('a run that cannot be journaled while the daemon stops is not counted, so that another replica makes it at once', async () => {
  expect(await runWith('schedule', { acquire: fails('store_failed') })).toEqual(['failed']);
  expect(await runWith('schedule', { acquire: fails('store_failed'), isStopping: true })).toEqual([]);
});
