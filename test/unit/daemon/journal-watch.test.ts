// When the leader notices what other processes have written.
import { expect, it } from 'vitest';
import type { OperatorRequest } from '../../../src/core/ports/journal-reader.ts';
import { createJournalWatch, type JournalWatchOptions } from '../../../src/daemon/journal-watch.ts';
import { testLog } from './notify/stage.ts';
import { virtualClock } from './virtual-clock.ts';

it('a request that was made here starts its run at once, and one of another process within two seconds', async () => {
  const clock = virtualClock(0);
  const started: string[] = [];
  let requests: readonly OperatorRequest[] = [];
  const watch = createJournalWatch({
    clock,
    log: testLog(),
    registry: { account: () => ({ settings: { mode: 'approve' }, errors: [] }) },
    reader: { requests: async () => requests },
    term: {
      request(account: string, trigger: string, at: string) {
        started.push(`${trigger} ${account} ${at} at ${clock.nowMs()}`);
        return true;
      },
    },
  } as unknown as JournalWatchOptions); // only what a request uses
  watch.start();
  await clock.pass(500);
  requests = [{ account: 'here', trigger: 'approval', at: 'a' }];
  watch.lookNow();
  await clock.pass(0);
  expect(started).toEqual(['approval here a at 500']);
  requests = [{ account: 'elsewhere', trigger: 'manual', at: 'b' }];
  await clock.pass(2000);
  expect(started.slice(1)).toEqual(['manual elsewhere b at 2500']);
  await watch.stop();
});
