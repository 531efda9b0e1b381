// When the daemon notices what other processes have journaled.
import { expect, it } from 'vitest';
import { createJournalWatch, type JournalWatchOptions } from '../../../src/daemon/journal-watch.ts';
import { testLog } from './notify/stage.ts';
import { virtualClock } from './virtual-clock.ts';

it('an approval that was given here starts its run at once, and one of another process within two seconds', async () => {
  const clock = virtualClock(0);
  const started: string[] = [];
  let approvals: readonly { readonly account: string; readonly givenAtMs: number }[] = [];
  const watch = createJournalWatch({
    clock,
    log: testLog(),
    registry: { account: () => ({ settings: { mode: 'approve' }, errors: [] }) },
    reader: { approvals: async () => approvals },
    turns: {
      async approve(account: string, givenAtMs: number) {
        started.push(`${account} ${givenAtMs} at ${clock.nowMs()}`);
        return true;
      },
      endBackoffs: async () => undefined,
    },
  } as unknown as JournalWatchOptions); // only what an approval uses
  watch.start();
  await clock.pass(500);
  approvals = [{ account: 'here', givenAtMs: 500 }];
  watch.lookNow();
  await clock.pass(0);
  expect(started).toEqual(['here 500 at 500']);
  approvals = [{ account: 'elsewhere', givenAtMs: 600 }];
  await clock.pass(2000);
  expect(started.slice(1)).toEqual(['elsewhere 600 at 2500']);
  await watch.stop();
});
