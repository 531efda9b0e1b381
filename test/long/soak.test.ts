// The soak: thousands of runs of forty accounts in one daemon, over a service that fails now and then, while entries and
// files change. Resources must not grow, nothing must be lost, and nothing be created twice. ROLECALL_SOAK_RUNS sets how
// many runs.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Fault, FaultAction } from '../../src/sandbox/sandbox.ts';
import { noDisturbances } from '../support/disturbances.ts';
import { reportOf } from '../support/fleet-checks.ts';
import { type Fleet, keepChanging, pause, startFleet, untilMatched } from '../support/fleet.ts';
import { groupBy } from '../support/grouping.ts';
import { quantile, slopeOf, storeMb, type Vitals, vitalsOf } from '../support/vitals.ts';

const RUNS = Number(process.env['ROLECALL_SOAK_RUNS'] ?? 5000);
/** Until then the daemon warms up: it compiles code, and its allocator reserves memory. */
const WARM_RUNS = Math.min(1500, RUNS * 0.6);
/** In fewer warm runs than these, growth cannot be distinguished from noise. */
const SHORTEST_SPAN = 2000;
/** Megabytes for each thousand runs. Resident memory also grows by what an allocator cannot return. */
const MOST_RSS_GROWTH = 3;
const MOST_HEAP_GROWTH = 0.5;
const MOST_STORE_MB = 24;
/** SQLite keeps so much of the store in memory. It fills while the store grows, which is no leak. */
const PAGE_CACHE_MB = 16;

/** SIGUSR2 collects garbage, so that only referenced memory is measured. */
const COLLECTOR = `
  import { setFlagsFromString } from 'node:v8';
  import { runInNewContext } from 'node:vm';
  setFlagsFromString('--expose-gc');
  process.on('SIGUSR2', runInNewContext('gc'));`;

/** How often each fault happens to the requests of a method. */
const FAULTS: readonly (readonly [method: string, probability: number, action: FaultAction])[] = [
  ['GET', 0.01, { type: 'drop-before-effect' }],
  ['GET', 0.01, { type: 'status', status: 500 }],
  ['GET', 0.005, { type: 'rate-limit', retryAfter: 1 }],
  ['GET', 0.005, { type: 'cut-body', fraction: 0.5 }],
  ['GET', 0.01, { type: 'empty-list' }],
  ['GET', 0.003, { type: 'invalid-json' }],
  ['POST', 0.04, { type: 'drop-after-effect' }],
  ['POST', 0.03, { type: 'effect-then-status', status: 500 }],
  ['POST', 0.02, { type: 'no-id' }],
  ['DELETE', 0.04, { type: 'drop-after-effect' }],
  ['DELETE', 0.03, { type: 'status', status: 503 }],
];

/** The checks of a fleet about time, which failing runs of a faulty service delay. */
const ABOUT_TIME = ['accounts without a run for too long', 'times without any run'];

interface Sample extends Vitals {
  readonly runs: number;
  readonly storeMb: number;
  readonly heapMb: number;
}

async function sample({ members, on }: Fleet): Promise<Sample> {
  const { daemon } = members[0] ?? expect.fail('no daemon');
  daemon.process.kill('SIGUSR2');
  await pause(500);
  const metrics = await daemon.metrics();
  // Without the space for young objects, which fills up again at once.
  const bytes = ['old', 'large_object'].map((space) =>
    Number(metrics.get(`rolecall_nodejs_heap_space_size_used_bytes{space="${space}"}`)),
  );
  return {
    ...vitalsOf(daemon.process.pid ?? 0),
    runs: daemon.events('run_ended').length,
    storeMb: storeMb(join(on.folder, 'data/rolecall.db')),
    heapMb: bytes.reduce((sum, each) => sum + each, 0) / 1024 ** 2,
  };
}

test(
  `in ${RUNS} runs of forty accounts with faults and changes no resource grows and nothing is lost`,
  { timeout: 1_800_000 },
  async () => {
    const fleet = await startFleet({
      accounts: 40,
      everySeconds: 1,
      members: 1,
      leaseMs: 10_000,
      restMs: 0,
      store: 'sqlite',
      behindMs: 0,
      env: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(COLLECTOR)}` },
    });
    const { daemon } = fleet.members[0] ?? expect.fail('no daemon');
    fleet.on.sandbox.setFaults(
      FAULTS.map(([method, probability, action]): Fault => ({
        match: { method },
        times: 'always',
        probability,
        do: action,
      })),
    );
    const samples: Sample[] = [];
    const isOver = (): boolean => (samples.at(-1)?.runs ?? 0) >= RUNS || daemon.process.exitCode !== null;
    const measuring = async (): Promise<void> => {
      while (!isOver()) samples.push(await sample(fleet));
    };
    await Promise.all([measuring(), keepChanging(fleet, isOver)]);
    const endMs = Date.now();
    expect(daemon.process.exitCode).toBeNull();
    const { acted } = fleet.on.sandbox.faults();
    fleet.on.sandbox.setFaults([]);
    await untilMatched(fleet, 240_000);
    await daemon.stop();

    const { breaches, figures } = await reportOf(fleet, noDisturbances(), { endMs, takeoverMs: 10_000 });
    console.log(figures);
    expect(Object.entries(breaches).filter(([check]) => !ABOUT_TIME.includes(check))).toEqual([]);
    expect(acted.filter((times) => times === 0).length).toBeLessThan(acted.length / 2);
    expect(daemon.output().stderr).not.toMatch(/bug in rolecall|SQLITE|token-of-|Warning/);
    const journaled = fleet.on.rows<{ id: string }>('select id from runs').map(({ id }) => id);
    const ended = daemon.events('run_ended').map(({ runId }) => runId);
    expect(new Set(ended).size).toBe(ended.length);
    expect(ended.filter((id) => !journaled.includes(id ?? ''))).toEqual([]);
    expectNoGrowth(samples);
  },
);

function expectNoGrowth(samples: readonly Sample[]): void {
  const warm = samples.filter(({ runs }) => runs >= WARM_RUNS && runs <= RUNS);
  const growth = (of: (sample: Sample) => number, parts: number, low: number): number => {
    const groups = groupBy(warm, ({ runs }) => Math.floor(((runs - 1) / RUNS) * parts));
    return slopeOf(
      [...groups].map(([at, own]) => [((at + 0.5) * RUNS) / parts / 1000, quantile(own.map(of), low)]),
    );
  };
  const leeway = Math.max(1, SHORTEST_SPAN / (RUNS - WARM_RUNS));
  const grown = {
    heap: growth(({ heapMb }) => heapMb, 10, 0),
    rss: growth(({ rssMb, storeMb: mb }) => rssMb - Math.min(mb, PAGE_CACHE_MB), 40, 0.25),
  };
  console.log('megabytes for each thousand runs:', grown);
  expect(grown.heap).toBeLessThan(MOST_HEAP_GROWTH * leeway);
  expect(grown.rss).toBeLessThan(MOST_RSS_GROWTH * leeway);
  expect(Math.max(...samples.map((each) => each.storeMb))).toBeLessThan(MOST_STORE_MB);
  const third = Math.ceil(warm.length / 3);
  const fewest = (of: readonly Sample[]): number => Math.min(...of.map(({ fds }) => fds));
  expect(fewest(warm.slice(-third))).toBeLessThanOrEqual(fewest(warm.slice(0, third)) + 3);
  expect(Math.max(...samples.map(({ fds }) => fds))).toBeLessThan(150);
  const threads = warm.map((each) => each.threads);
  expect(Math.max(...threads)).toBeLessThanOrEqual(Math.min(...threads) + 1);
}
