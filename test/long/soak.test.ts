// The soak: thousands of runs of ten accounts in one daemon, over a service that fails now and then, while people
// change the accounts and retention deletes runs. Resources must not grow, nothing must be lost, and no report must be
// wrong. ROLECALL_SOAK_RUNS sets how many runs.
import { join } from 'node:path';
import { Agent, setGlobalDispatcher } from 'undici';
import { expect, onTestFinished, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { type Daemon, EVERY_SECOND, type LogLine, startDaemon, WITH_TOKEN } from '../support/daemon.ts';
import { NOTIFY, type Receiver, startReceiver } from '../support/receiver.ts';
import { table } from '../support/table.ts';
import { quantile, slopeOf, storeMb, type Vitals, vitalsOf } from '../support/vitals.ts';
import { makeWorkspace, until, type Workspace } from '../support/workspace.ts';
import { type ManualChanges, createManualChanges, seedOf, tokenOf, variableOf } from './soak-changes.ts';
import { openLedger, type RunLedger } from './soak-ledger.ts';
import { soakFaults } from './soak-faults.ts';
import { createClients, TEMPORARY, type Clients } from './soak-clients.ts';

const RUNS = Number(process.env['ROLECALL_SOAK_RUNS'] ?? 5000);
const ACCOUNTS = ['alpha', 'beta', 'gamma', 'delta', 'epsilon', 'zeta', 'eta', 'theta', 'iota', 'kappa'];
const THROTTLED = 'kappa';

// A connection for each request, because a kept one may be closed just when a busy machine uses it again.
setGlobalDispatcher(new Agent({ pipelining: 0 }));

/** How long runs are kept here, and how many. The minimum of the setting is two days, which the moved clock passes. */
const KEPT = { keptMs: 60_000 };
const HURRY = { HURRY_EVERY_MS: '10000', HURRY_AHEAD_MS: String(2 * 86_400_000 - KEPT.keptMs) };

/** Until then the daemon warms up: it compiles code, and its allocator reserves memory. */
const WARM_RUNS = Math.min(1500, RUNS * 0.6);
/** In fewer runs than these, growth cannot be distinguished from noise. */
const SHORTEST_SPAN = 2000;
/** Megabytes for each thousand runs. Resident memory also grows by what an allocator cannot return. */
const MOST_RSS_GROWTH = 3;
const MOST_HEAP_GROWTH = 0.5;
const MOST_STORE_MB = 24;
const POINTS = 40;

interface Sample extends Vitals {
  readonly runs: number;
  readonly storeMb: number;
  /** The entries of all accounts at the service. */
  readonly entries: number;
}

interface HeapSample {
  readonly runs: number;
  readonly heapMb: number;
}

type LoggedWrite = Parameters<NonNullable<NonNullable<Parameters<typeof startSandbox>[0]>['log']>>[0];

interface Scene {
  readonly sandbox: Sandbox;
  readonly workspace: Workspace;
  readonly receiver: Receiver;
  readonly daemon: Daemon;
  readonly pid: number;
  readonly changes: ManualChanges;
  readonly clients: Clients;
  readonly ledger: RunLedger;
  readonly writes: readonly LoggedWrite[];
  readonly samples: Sample[];
  readonly heaps: HeapSample[];
  /** The responses of /readyz that were not ok. */
  readonly unready: string[];
}

async function startScene(): Promise<Scene> {
  const writes: LoggedWrite[] = [];
  const sandbox = await startSandbox({
    seed: { accounts: [...ACCOUNTS, TEMPORARY].map(seedOf) },
    log: (entry) => {
      if (entry.method !== 'GET') writes.push(entry);
    },
  });
  onTestFinished(() => sandbox.close());
  const receiver = await startReceiver();
  const workspace = makeWorkspace('');
  workspace.write(
    'config/rolecall.yaml',
    [
      'accounts: accounts/*.yaml',
      'store: ../data/rolecall.db',
      'api: { requestsPerSecond: 1000, timeout: 1500ms, settle: 4s, retries: 3 }',
      `defaults: { mode: apply, schedule: ${EVERY_SECOND}, jitter: 50ms, policy: { maxDeletes: 10000, maxDeletesPerDay: 1000000, maxDeletePercent: 100, unusedFor: 0s, allowNoPeople: true } }`,
      `retention: { runs: 2d, snapshots: 2d }`,
      'log: { level: debug }',
      WITH_TOKEN,
      NOTIFY,
      '',
    ].join('\n'),
  );
  const changes = createManualChanges(sandbox, workspace, ACCOUNTS);
  const env = {
    ...Object.fromEntries([...ACCOUNTS, TEMPORARY].map((name) => [variableOf(name), tokenOf(name)])),
    ...receiver.env,
  };
  const hurry = `--import=${new URL('../support/hurry.mjs', import.meta.url).href}`;
  const daemon = await startDaemon(workspace, { env: { ...env, ...HURRY, NODE_OPTIONS: hurry } });
  // A wrong list in the first run of an account cannot be detected, so faults start after it.
  await until('each account has converged', () =>
    ACCOUNTS.every((account) => daemon.runsEnded(account, 'converged') > 0),
  );
  sandbox.setFaults(soakFaults(RUNS >= SHORTEST_SPAN ? THROTTLED : null));
  const clients = createClients({ sandbox, workspace, daemon, accounts: ACCOUNTS, env });
  const ledger = openLedger(workspace, KEPT);
  const { pid } = daemon.process;
  if (pid === undefined) throw new Error('the daemon has no process id');
  const samples: Sample[] = [];
  const heaps: HeapSample[] = [];
  return {
    sandbox,
    workspace,
    receiver,
    daemon,
    pid,
    changes,
    clients,
    ledger,
    writes,
    samples,
    heaps,
    unready: [],
  };
}

/** Repeats the work at an interval until it is over. */
async function repeat(
  everyMs: number,
  isOver: () => boolean,
  work: () => void | Promise<void>,
): Promise<void> {
  while (!isOver()) {
    await work();
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}

async function soak(scene: Scene): Promise<void> {
  const { daemon, changes, clients, ledger, unready } = scene;
  const ended = (): number => daemon.events('run_ended').length;
  let isOver = false;
  const over = (): boolean => isOver || daemon.process.exitCode !== null;
  const measuring = async (): Promise<void> => {
    for (let point = 1; point <= POINTS && !over(); point += 1) {
      const runs = Math.round((RUNS * point) / POINTS);
      const before = ended();
      let [at, count] = [Date.now(), before];
      await until(
        `${runs} runs have ended`,
        async () => {
          measure(scene, ended());
          await new Promise((resolve) => setTimeout(resolve, 500));
          if (ended() > count) [at, count] = [Date.now(), ended()];
          if (Date.now() - at > 60_000) throw new Error(`nothing has run for a minute, after ${count} runs`);
          return count >= runs || over();
        },
        1_200_000,
      );
      await measureHeap(scene, ended());
    }
    isOver = true;
  };
  try {
    await Promise.all([
      measuring(),
      repeat(200, over, () => changes.changeOne()),
      repeat(60, over, () => clients.send()),
      repeat(1000, over, () => ledger.read()),
      repeat(500, over, async () => {
        const { status, text } = await daemon.get('/readyz');
        if (status !== 200) unready.push(text);
      }),
    ]);
  } finally {
    isOver = true;
  }
}

function measure({ pid, samples, workspace, sandbox }: Scene, runs: number): void {
  const states = ACCOUNTS.map((account) => sandbox.state(account));
  const entries = states.reduce((sum, { skills, roles }) => sum + skills.length + roles.length, 0);
  const file = join(workspace.folder, 'data/rolecall.db');
  samples.push({ runs, ...vitalsOf(pid), storeMb: storeMb(file), entries });
}

/** The heap after a garbage collection, including the lists of current runs. */
async function measureHeap({ daemon, heaps }: Scene, runs: number): Promise<void> {
  const major = 'rolecall_nodejs_gc_duration_seconds_count{kind="major"}';
  const collections = async (): Promise<number> => (await daemon.metrics()).get(major) ?? 0;
  const before = await collections();
  await until(
    'the garbage is collected',
    async () => {
      daemon.process.kill('SIGUSR2');
      await new Promise((resolve) => setTimeout(resolve, 200));
      return (await collections()) > before;
    },
    120_000,
  );
  // Without the space for young objects, which fills up again at once.
  const now = await daemon.metrics();
  const bytes = ['old', 'large_object'].map((space) =>
    Number(now.get(`rolecall_nodejs_heap_space_size_used_bytes{space="${space}"}`)),
  );
  heaps.push({ runs, heapMb: bytes.reduce((sum, each) => sum + each, 0) / 1024 ** 2 });
}

/** Ends faults and manual changes, and waits until every account matches its file and the daemon is idle. */
async function waitForRest({ sandbox, daemon, changes, ledger }: Scene): Promise<void> {
  sandbox.setFaults([]);
  await until(
    'every account matches its file',
    async () => {
      changes.resolveAll();
      ledger.read();
      // After failures in a row the schedule waits; a requested run does not.
      for (const account of changes.mismatched()) await daemon.api(`accounts/${account}/sync`, {});
      await new Promise((resolve) => setTimeout(resolve, 300));
      return changes.mismatched().length === 0;
    },
    240_000,
  );
  const converged = ACCOUNTS.map((account) => daemon.runsEnded(account, 'converged'));
  await until(
    'each account has converged',
    () => ACCOUNTS.every((account, i) => daemon.runsEnded(account, 'converged') > (converged[i] ?? 0)),
    60_000,
  );
  for (const account of ACCOUNTS) await daemon.api(`accounts/${account}/pause`, {});
  await until('the daemon is idle', async () => {
    const { body } = await daemon.api<{ accounts: readonly { name: string; activity: string }[] }>(
      'accounts',
    );
    return body.accounts.every(({ name, activity }) => activity === 'idle' || name.startsWith(TEMPORARY));
  });
}

test(
  `in ${RUNS} runs of ten accounts with faults and manual changes no resource grows and nothing is lost`,
  { timeout: 1_800_000 },
  async () => {
    const scene = await startScene();
    const { daemon, changes, clients, ledger, sandbox } = scene;
    await soak(scene);
    expect(daemon.process.exitCode).toBeNull();
    const acted = sandbox.faults().acted;
    await waitForRest(scene);
    const metrics = await daemon.metrics();
    ledger.read();
    await daemon.stop();
    ledger.read();
    console.log(tableOf(scene));

    // The faults took effect, and retention deleted runs.
    expect(acted.filter((times) => times === 0).length).toBeLessThan(
      RUNS < 2 * SHORTEST_SPAN ? acted.length / 2 : 3,
    );
    expect(ledger.deletedBy.pruned).toBeGreaterThan(RUNS < SHORTEST_SPAN ? -1 : RUNS / 20);

    logsNoErrors(daemon);
    expect(clients.problems).toEqual([]);
    expect(scene.unready).toEqual([]);
    expect(scene.receiver.refused()).toEqual([]);
    losesNoRun(scene, metrics);
    countsEveryTick(daemon);
    expect(createdTwice(scene)).toEqual([]);
    expect(changes.lost()).toEqual([]);
    expectNoGrowth(scene);
  },
);

/** Expects one process from start to stop, and no unexpected line in its log. */
function logsNoErrors(daemon: Daemon): void {
  expect(daemon.events('starting')).toHaveLength(1);
  const odd = [
    'run_failed',
    'http_failed',
    'prune_failed',
    'reload_failed',
    'watch_failed',
    'made_elsewhere',
    'locked',
  ];
  expect(daemon.log().filter(({ event = '' }) => odd.includes(event))).toEqual([]);
  // The log reader throws on lines of other kinds, such as warnings of Node.js.
  expect(daemon.output().stderr).not.toMatch(/bug in rolecall|SQLITE|token-of-|Warning/);
}

function losesNoRun(
  { daemon, workspace, clients, ledger }: Scene,
  metrics: Awaited<ReturnType<Daemon['metrics']>>,
): void {
  const ended = daemon.events('run_ended');
  expect(new Set(ended.map(({ runId }) => runId)).size).toBe(ended.length);
  expect(ended.filter(({ runId = '' }) => !ledger.knows(runId))).toEqual([]);
  expect(ledger.problems).toEqual([]);
  const journaled = workspace.rows<{ id: string }>('select id from runs');
  const reported = new Set(ended.map(({ runId }) => runId));
  expect(journaled.filter(({ id }) => !reported.has(id))).toEqual([]);
  expect(workspace.rows(`select * from runs where status = 'running'`)).toEqual([]);
  expect(workspace.rows('select * from locks')).toEqual([]);
  expect(workspace.rows(`select * from operations where status in ('sent', 'pending')`)).toEqual([]);
  for (const account of ACCOUNTS) {
    const runs = [...metrics].filter(([name]) => name.startsWith(`rolecall_runs_total{account="${account}"`));
    const counted = runs.reduce((sum, [, value]) => sum + value, 0);
    // One run serves all requests that are accepted before it starts.
    const byHand = ended.findLast((line) => line.account === account && line.trigger === 'manual');
    const lastAcceptedMs = clients.lastAcceptedMs.get(account) ?? 0;
    const isServed = lastAcceptedMs === 0 || Date.parse(byHand?.time ?? '') >= lastAcceptedMs;
    expect({ account, counted, isServed }).toEqual({
      account,
      counted: daemon.runsEnded(account),
      isServed: true,
    });
    expect(metrics.get(`rolecall_skipped_ticks_total{account="${account}"}`) ?? 0).toBe(
      daemon.events('tick_skipped', account).length,
    );
  }
}

/** Each second of each account was a run, was reported as skipped or paused, or was left out after failures. */
function countsEveryTick(daemon: Daemon): void {
  const timeOf = (event: string): number => Date.parse(daemon.events(event)[0]?.time ?? '');
  const ticks = (timeOf('stopping') - timeOf('schedules')) / 1000;
  for (const account of ACCOUNTS) {
    const isTick = ({ trigger = '' }: LogLine): boolean => ['schedule', 'catch_up'].includes(trigger);
    const run = daemon.events('run_ended', account).filter(isTick).length;
    const skipped = daemon.events('tick_skipped', account).length;
    const paused = daemon.events('paused', account).filter(isTick).length;
    const reported = run + skipped + paused;
    const leftOut = mostLeftOut(daemon.events('run_ended', account));
    // A tick at the stop of the daemon is not reported, and several ticks that a busy machine missed are one.
    expect(reported, `${account}: ${run} + ${skipped} + ${paused} of ${ticks}`).toBeLessThanOrEqual(
      ticks + 1,
    );
    expect(
      reported + leftOut,
      `${account}: ${run} + ${skipped} + ${paused} + ${leftOut} of ${ticks}`,
    ).toBeGreaterThan(ticks * 0.9 - 2);
  }
}

/** How many ticks were left out at most because runs had failed in a row. */
function mostLeftOut(ended: readonly LogLine[]): number {
  let [failures, ticks] = [0, 0];
  for (const [index, { status = '', time }] of ended.entries()) {
    failures = ['failed', 'partial'].includes(status) ? failures + 1 : 0;
    if (failures < 2) continue;
    const next = ended[index + 1]?.time;
    const untilNext = next === undefined ? Infinity : (Date.parse(next) - Date.parse(time)) / 1000;
    ticks += Math.min(2 ** (failures - 1), untilNext + 1);
  }
  return ticks;
}

/** Entries that were created more often than they were removed, and names that exist twice. */
function createdTwice({ writes, sandbox, changes }: Scene): string[] {
  const times = (method: string): Map<string, number> => {
    const counts = new Map<string, number>();
    for (const { account, name, effect, fault, ...write } of writes) {
      // A delayed effect comes after the log entry.
      if (write.method !== method || !(effect || fault === 'delay-effect')) continue;
      counts.set(`${account} ${name}`, (counts.get(`${account} ${name}`) ?? 0) + 1);
    }
    return counts;
  };
  const [made, deleted] = [times('POST'), times('DELETE')];
  const tooOften = [...made].filter(
    ([key, count]) => count > 1 + (deleted.get(key) ?? 0) + (changes.removed.get(key) ?? 0),
  );
  const duplicates = ACCOUNTS.flatMap((account) => {
    const { skills, roles } = sandbox.state(account);
    const names = [...skills.map(({ name }) => `skill ${name}`), ...roles.map(({ name }) => `role ${name}`)];
    return names.filter((name, index) => names.indexOf(name) !== index).map((name) => `${account} ${name}`);
  });
  return [...tooOften.map(([key, count]) => `${key}: ${count} times`), ...duplicates];
}

const isWarm = ({ runs }: { readonly runs: number }): boolean => runs >= WARM_RUNS;

/** Megabytes for each thousand runs: of the smallest heap, and of the lower quarter of resident memory. */
function growthOf({ samples, heaps }: Scene): { readonly rss: number; readonly heap: number } {
  const rss = windowsOf(samples.filter(isWarm), POINTS);
  const heap = windowsOf(heaps.filter(isWarm), POINTS / 4);
  return {
    rss: slopeOf(rss.map(({ runs, of }) => [runs / 1000, lowerQuarter(of.map(({ rssMb }) => rssMb))])),
    heap: slopeOf(heap.map(({ runs, of }) => [runs / 1000, Math.min(...of.map(({ heapMb }) => heapMb))])),
  };
}

function lowerQuarter(values: readonly number[]): number {
  return quantile(values, 0.25);
}

/** The measurements in equal parts of the runs, with the number of runs at the middle of each part. */
function windowsOf<T extends { readonly runs: number }>(
  measured: readonly T[],
  parts: number,
): readonly { readonly runs: number; readonly of: readonly T[] }[] {
  const groups = new Map<number, T[]>();
  for (const each of measured) {
    const part = Math.floor(((each.runs - 1) / RUNS) * parts);
    groups.set(part, [...(groups.get(part) ?? []), each]);
  }
  return [...groups].map(([part, of]) => ({ runs: ((part + 0.5) * RUNS) / parts, of }));
}

function expectNoGrowth(scene: Scene): void {
  const span = RUNS - WARM_RUNS;
  const leeway = Math.max(1, SHORTEST_SPAN / span);
  const { rss, heap } = growthOf(scene);
  expect(heap).toBeLessThan(MOST_HEAP_GROWTH * leeway);
  expect(rss).toBeLessThan(MOST_RSS_GROWTH * leeway);
  const warm = windowsOf(scene.samples.filter(isWarm), POINTS);
  expect(Math.max(...scene.samples.map((sample) => sample.storeMb))).toBeLessThan(MOST_STORE_MB);
  const fewest = warm.map(({ of }) => Math.min(...of.map(({ fds }) => fds)));
  const third = Math.ceil(fewest.length / 3);
  expect(Math.min(...fewest.slice(-third))).toBeLessThanOrEqual(Math.min(...fewest.slice(0, third)) + 3);
  expect(Math.max(...scene.samples.map(({ fds }) => fds))).toBeLessThan(150);
  const threads = scene.samples.filter(isWarm).map((sample) => sample.threads);
  expect(Math.max(...threads)).toBeLessThanOrEqual(Math.min(...threads) + 1);
}

function tableOf(scene: Scene): string {
  const { samples, heaps, daemon, ledger, changes, writes } = scene;
  const held = windowsOf(heaps, POINTS / 4);
  const rows = windowsOf(samples, POINTS / 4).map(({ runs, of }) => {
    const heapsThen = held.find((window) => window.runs === runs)?.of ?? [];
    const [fds, threads] = [of.map((sample) => sample.fds), of.map((sample) => sample.threads)];
    return [
      Math.round(runs),
      lowerQuarter(of.map(({ rssMb }) => rssMb)).toFixed(1),
      Math.min(...heapsThen.map(({ heapMb }) => heapMb)).toFixed(2),
      `${Math.min(...fds)}-${Math.max(...fds)}`,
      Math.max(...threads),
      Math.max(...of.map((sample) => sample.storeMb)).toFixed(1),
      `${Math.min(...of.map(({ entries }) => entries))}-${Math.max(...of.map(({ entries }) => entries))}`,
    ];
  });
  const { rss, heap } = growthOf(scene);
  const count = (event: string): number => daemon.events(event).length;
  const statuses = [...new Set(daemon.events('run_ended').map(({ status }) => status))];
  return [
    table(
      ['runs', 'RSS MB', 'heap MB', 'fds', 'threads', 'store MB', 'entries'],
      rows.map((row) => row.map(String)),
    ),
    `growth after the first ${WARM_RUNS} runs: RSS ${rss.toFixed(2)}, heap ${heap.toFixed(3)} MB for 1,000 runs`,
    `runs: ${count('run_ended')} (${statuses.map((status) => `${status} ${daemon.events('run_ended').filter((line) => line.status === status).length}`).join(', ')})`,
    `deleted by rule: ${ledger.deletedBy.pruned} pruned; ticks skipped: ${count('tick_skipped')}`,
    `changes: ${changes.turns()} turns; writes at the service: ${writes.length}; notices: ${scene.receiver.notices().length}`,
    `CPU: ${samples.at(-1)?.cpuSeconds} s; ${((Date.parse(daemon.events('stopping')[0]?.time ?? '') - Date.parse(daemon.events('listening')[0]?.time ?? '')) / 1000).toFixed(0)} s in all`,
  ].join('\n');
}
