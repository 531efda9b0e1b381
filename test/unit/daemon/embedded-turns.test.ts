// What the turns of one process request when the daemon starts.
import { expect, it } from 'vitest';
import type { Turn } from '../../../src/core/turns.ts';
import { createEmbeddedTurns, type EmbeddedTurnsOptions } from '../../../src/daemon/embedded-turns.ts';
import { testLog } from './notify/stage.ts';
import { virtualClock } from './virtual-clock.ts';

const START = Date.UTC(2026, 0, 5, 10, 7);
const MINUTE = 60_000;

async function startWith(isEach: boolean): Promise<readonly string[]> {
  const runs: string[] = [];
  const signals = { stop: new AbortController().signal, kill: new AbortController().signal };
  const turns = createEmbeddedTurns({
    clock: virtualClock(START),
    log: testLog(),
    signals,
    addressOf: () => 'https://eu',
    addressCount: () => 1,
    maxRuns: () => 8,
    onSkipped: () => undefined,
  } as unknown as EmbeddedTurnsOptions); // only what a start uses
  const schedule = { schedule: '*/15 * * * *', timezone: 'Etc/UTC', jitterMs: 0, revision: '' };
  const names = ['missed', 'in-time', 'new'];
  turns.update(names.map((name) => ({ ...schedule, name, lane: '', digest: '', isBroken: false })));
  turns.start(async ({ account, trigger }: Turn) => void runs.push(`${account} ${trigger}`));
  turns.startFirst(
    [
      { account: 'missed', failures: 0, startedMs: START - 8 * MINUTE },
      { account: 'in-time', failures: 0, startedMs: START - 6 * MINUTE },
      { account: 'new', failures: 0, startedMs: null },
    ],
    isEach,
  );
  await turns.stop();
  return runs;
}

it('the first runs are those of all accounts, or of those that missed a tick', async () => {
  expect(await startWith(true)).toEqual(['missed start', 'in-time start', 'new start']);
  expect(await startWith(false)).toEqual(['missed catch_up']);
});

it('ticks are skipped after failures that were not journaled, until a run of the account succeeds', async () => {
  const clock = virtualClock(START);
  let startedAt = new Date(START - MINUTE).toISOString();
  const signals = { stop: new AbortController().signal, kill: new AbortController().signal };
  const turns = createEmbeddedTurns({
    clock,
    log: testLog(),
    signals,
    reader: { accounts: async () => [{ state: { consecutiveFailures: 0 }, lastRun: { startedAt } }] },
    addressOf: () => '',
    addressCount: () => 1,
    maxRuns: () => 8,
    onSkipped: () => undefined,
  } as unknown as EmbeddedTurnsOptions); // only what a tick uses
  const line = { schedule: '*/15 * * * *', timezone: 'Etc/UTC', jitterMs: 0, revision: '' };
  turns.update([{ ...line, name: 'acme', lane: '', digest: '', isBroken: false }]);
  turns.start(async () => turns.ended('acme', 2));
  await clock.pass(10 * MINUTE);
  const backoffMs = async () => (await turns.states(['acme'])).get('acme')?.backoffUntilMs;
  await turns.endBackoffs();
  expect(await backoffMs()).not.toBeNull();
  startedAt = new Date(clock.nowMs()).toISOString();
  await turns.endBackoffs();
  expect(await backoffMs()).toBeNull();
  await turns.stop();
});
