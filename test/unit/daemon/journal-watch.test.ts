// When the leader notices what other processes have written.
import { expect, it } from 'vitest';
import type { OperatorActionRecord } from '../../../src/core/operator.ts';
import type { OperatorRequest } from '../../../src/core/ports/journal-reader.ts';
import { createMetrics } from '../../../src/daemon/metrics.ts';
import { createJournalWatch, type JournalWatchOptions } from '../../../src/daemon/journal-watch.ts';
import { testLog } from './notify/stage.ts';
import { virtualClock } from './virtual-clock.ts';

const NOTHING = { requests: async () => [], operatorActions: async () => [], pauseOfAll: async () => null };

function watchOf({ reader, ...options }: Readonly<Record<string, object>>) {
  const unused = { log: testLog(), metrics: { account: () => undefined } };
  const given = { ...unused, ...options, reader: { ...NOTHING, ...reader } };
  return createJournalWatch(given as unknown as JournalWatchOptions); // only what a test uses
}

it('a request that was made here starts its run at once, and one of another process within a quarter of a second', async () => {
  const clock = virtualClock(0);
  const started: string[] = [];
  let pause: object | null = null;
  let requests: readonly OperatorRequest[] = [];
  const watch = watchOf({
    clock,
    registry: { account: () => ({ settings: { mode: 'approve' }, errors: [] }) },
    reader: { requests: async () => requests, pauseOfAll: async () => pause },
    term: {
      request({ account, trigger, at }: OperatorRequest) {
        started.push(`${trigger} ${account} ${at} at ${clock.nowMs()}`);
        return true;
      },
    },
  });
  watch.start();
  await clock.pass(100);
  requests = [{ account: 'here', trigger: 'approval', at: 'a', by: null }];
  watch.lookNow();
  await clock.pass(0);
  expect(started).toEqual(['approval here a null at 100']);
  requests = [{ account: 'elsewhere', trigger: 'manual', at: 'b', by: null }];
  await clock.pass(250);
  expect(started.slice(1)).toEqual(['manual elsewhere b at 350']);
  requests = [{ account: 'kept', trigger: 'approval', at: 'c', by: null }];
  for (pause of [{}, null]) await clock.pass(250);
  expect(started.slice(2)).toEqual(['approval kept c {} at 600', 'approval kept c null at 850']);
  await watch.stop();
});

it('fetches for each new request of the newest configuration, and logs the commands that no request over HTTP logged', async () => {
  const clock = virtualClock(0);
  const log = testLog();
  const command = { at: '2026-11-24T05:00:00.000Z', by: 'sam', detail: null } as const;
  const commands: OperatorActionRecord[] = [
    { seq: 7, account: '*', action: 'fetch', via: 'http', ...command },
    { seq: 6, account: 'old', action: 'pause', via: 'cli', ...command },
  ];
  let fetches = 0;
  const watch = watchOf({
    clock,
    log,
    reader: {
      operatorActions: async ({ after = 0, limit }: { after?: number; limit: number }) =>
        commands.filter(({ seq }) => seq > after).slice(0, limit),
    },
    fetchSource: async () => void (fetches += 1),
  });
  watch.start();
  await clock.pass(100);
  expect([fetches, log.lines]).toEqual([0, []]);
  commands.unshift({ seq: 8, account: 'acme', action: 'pause', via: 'cli', ...command });
  commands.unshift({ seq: 9, account: '*', action: 'fetch', via: 'http', ...command });
  await clock.pass(4000);
  expect(fetches).toBe(1);
  expect(log.lines).toMatchObject([
    { event: 'operator_action', action: 'pause', account: 'acme', by: 'sam' },
  ]);
  await watch.stop();
});

it('shows in the metrics whether all accounts are paused, also when the pause ends by itself', async () => {
  const clock = virtualClock(0);
  const metrics = createMetrics('0');
  const reader = { pauseOfAll: async (nowMs: number) => (nowMs < 3000 ? {} : null) };
  const watch = watchOf({ clock, metrics, reader });
  const paused = async () => /^rolecall_paused.*/mu.exec(await metrics.text())?.[0];
  watch.start();
  await clock.pass(0);
  expect(await paused()).toBe('rolecall_paused{account="*"} 1');
  await clock.pass(4000);
  expect(await paused()).toBe('rolecall_paused{account="*"} 0');
  await watch.stop();
});
