// What a start requests and shows, and what it does not wait for.
import { expect, it } from 'vitest';
import type { Trigger } from '../../../src/core/journal.ts';
import type { RunDetail } from '../../../src/core/ports/journal-reader.ts';
import { outcomeOf, type RunOutcome } from '../../../src/core/run-outcome.ts';
import { createMetrics } from '../../../src/daemon/metrics.ts';
import { startUp, type StartUpOptions } from '../../../src/daemon/start-up.ts';
import { sha256 } from '../core/builders.ts';
import { runDetail, type RunSketch } from '../core/run-details.ts';
import { testLog } from './notify/stage.ts';

const found = (account: string, sketch: RunSketch): RunDetail => runDetail(1, { account, ...sketch });
const outcome = (account: string, sketch: RunSketch): RunOutcome =>
  outcomeOf(found(account, sketch), null, sha256);

/** A daemon with `runOnStart: false` whose accounts ran before and have all missed a tick, which is that of `ticks`. */
function stage(
  names: readonly string[],
  runs: (account: string) => Promise<RunDetail>,
  ticks: Readonly<Record<string, number>> = {},
) {
  const metrics = createMetrics('test');
  metrics.leads(true);
  const log = testLog();
  const stop = new AbortController();
  const requested: [string, Trigger][] = [];
  const read: string[] = [];
  const state = {
    remoteAccountId: null,
    paused: false,
    pending: null,
    approval: null,
    consecutiveFailures: 0,
    throttledUntilMs: null,
  };
  const registered = names.map((name) => ({ name, file: `/${name}.yaml`, errors: [], settings: null }));
  const records = names.map((name) => ({
    name,
    state,
    lastRun: runDetail(1, { id: name, account: name }).run,
    nextTickMs: ticks[name] ?? 1,
    lastSuccessAt: null,
  }));
  const options = {
    registry: {
      accounts: () => registered,
      account: (name: string) => registered.find((each) => each.name === name),
      service: () => ({ daemon: { runOnStart: false, maxRuns: 8, shutdownGraceMs: 1 } }),
    },
    isStart: true,
    term: {
      nextRunMs: () => null,
      startFirst: (account: string, _record: unknown, isAlways: boolean) =>
        void requested.push([account, isAlways ? 'start' : 'catch_up']),
    },
    reader: {
      accounts: async () => records,
      entryCounts: async () => new Map(),
      async run(runId: string) {
        read.push(runId);
        return await runs(runId);
      },
    },
    sha256,
    log,
    metrics,
    signals: { stop: stop.signal },
  } as unknown as StartUpOptions; // only what a start uses
  const gauges = async (name: string): Promise<string[]> =>
    (await metrics.text()).split('\n').filter((line) => line.startsWith(`rolecall_${name}{`));
  return { options, metrics, log, stop, requested, read, gauges };
}

const drift = (account: string, created: number): string =>
  `rolecall_drift{account="${account}",kind="skill",action="create"} ${created}`;

it('a start requests missed runs before it reads the last runs', async () => {
  const { options, requested, read, stop } = stage(['a', 'b'], () => new Promise(() => undefined));
  await startUp(options);
  expect(requested).toEqual([
    ['a', 'catch_up'],
    ['b', 'catch_up'],
  ]);
  expect(read).toEqual(['a']);
  stop.abort();
});

it.each([
  ['a start', { isStart: true }, ['start', 'start', 'start', 'start']],
  ['the next leader', { isStart: false }, ['start', 'catch_up', 'catch_up', 'catch_up']],
])(
  '%s requests a run of the account first that never ran, and then of those that are due longest',
  async (_, more, triggers) => {
    const { options, requested } = stage(['a', 'b', 'c', 'd'], () => new Promise(() => undefined), {
      a: 9,
      b: 8,
      c: 7,
    });
    const all = await options.reader.accounts();
    const reader = { ...options.reader, accounts: async () => all.filter(({ name }) => name !== 'd') };
    const service = () => ({ daemon: { runOnStart: true } });
    const registry = { ...options.registry, service } as unknown as StartUpOptions['registry']; // only what a start uses
    await startUp({ ...options, ...more, registry, reader });
    expect(requested.map(([account]) => account)).toEqual(['d', 'c', 'b', 'a']);
    expect(requested.map(([, trigger]) => trigger)).toEqual(triggers);
  },
);

it('the gauges show the last runs, except one that cannot be read', async () => {
  const { options, gauges, log } = stage(['a', 'b'], async (name) => {
    if (name === 'a') throw new Error('no');
    return found(name, { status: 'planned', toCreate: ['Go'] });
  });
  const { background } = await startUp(options);
  await background;
  expect(await gauges('drift')).toContain(drift('b', 1));
  expect((await gauges('drift')).join()).not.toContain('account="a"');
  expect(log.lines).toContainEqual(expect.objectContaining({ event: 'last_run_unread', account: 'a' }));
});

it('a last run that is read late does not replace the results of a newer run', async () => {
  let endReading = (): void => undefined;
  const reading = new Promise<void>((resolve) => (endReading = resolve));
  const { options, gauges, metrics } = stage(['a', 'b'], async (name) => {
    await reading;
    return found(name, { status: 'planned', toCreate: ['Go'] });
  });
  const { background } = await startUp(options);
  metrics.run(outcome('a', { status: 'planned', toCreate: ['Go', 'Rust'] }), new Map(), 1);
  endReading();
  await background;
  expect(await gauges('drift')).toContain(drift('a', 2));
});

it('no last run is read after the daemon has been stopped', async () => {
  const { options, stop, read, gauges } = stage(['a', 'b'], async (name) => {
    stop.abort();
    return found(name, { status: 'planned', toCreate: ['Go'] });
  });
  const { background } = await startUp(options);
  await background;
  expect(read).toEqual(['a']);
  expect(await gauges('drift')).toEqual([]);
});
