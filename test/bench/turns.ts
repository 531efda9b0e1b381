// What the turns of several replicas cost: `npm run bench:turns -- --accounts 10000,100000 --rates 11,111 --seconds 20`.
// Starts a PostgreSQL cluster and three replicas as processes, and prints the claims per second, how late runs start, and
// the processor time of the replicas and of the database, also while nothing is due.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { openPostgresStore } from '../../src/store/postgres/open-postgres-store.ts';
import type { PostgresLocation } from '../../src/store/postgres/location.ts';
import { startCluster, urlOf } from '../support/postgres-cluster.ts';
import { findPostgres, NO_POSTGRES } from '../support/postgres-programs.ts';
import { table } from '../support/table.ts';
import { quantile } from '../support/vitals.ts';
import { LANES, obey, type Order, type ReplicaFigures } from './turns-replica.ts';

const { values } = parseArgs({
  options: {
    accounts: { type: 'string', default: '10000,100000' },
    rates: { type: 'string', default: '11,111' },
    seconds: { type: 'string', default: '20' },
    replicas: { type: 'string', default: '3' },
    'run-ms': { type: 'string', default: '50' },
  },
});
const SECONDS = Number(values.seconds);
const SCHEMA = 'rolecall_bench';
const listOf = (text: string): number[] => text.split(',').map(Number);
const locationOf = (url: string): PostgresLocation => ({ url, schema: SCHEMA, pool: 10, leaseMs: 60_000 });
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** A replica as a process, and a way to give it one order at a time. */
interface Replica {
  readonly child: ChildProcess;
  give(order: Order): Promise<ReplicaFigures>;
}

interface Bench {
  readonly replicas: readonly Replica[];
  readonly db: pg.Client;
  /** The folder of the cluster. */
  readonly folder: string;
  readonly rows: string[][];
}

function startReplica(url: string): Replica {
  const child = fork(fileURLToPath(import.meta.url), [], {
    env: { ...process.env, ROLECALL_BENCH_DATABASE: url },
  });
  return {
    child,
    async give(order) {
      const answered = new AbortController();
      const { signal } = answered;
      try {
        const answer = once(child, 'message', { signal }) as Promise<[ReplicaFigures]>;
        const ended = once(child, 'exit', { signal }).then(() => {
          throw new Error('a replica ended');
        });
        ended.catch(() => undefined);
        child.send(order);
        return (await Promise.race([answer, ended]))[0];
      } finally {
        answered.abort();
      }
    },
  };
}

async function all({ replicas }: Bench, order: Order): Promise<readonly ReplicaFigures[]> {
  return await Promise.all(replicas.map((replica) => replica.give(order)));
}

interface ProcessTimes {
  readonly parent: number;
  readonly seconds: number;
  /** Of its children that have ended. */
  readonly ofEnded: number;
}

/** Null when the process has ended. */
function timesOf(pid: number): ProcessTimes | null {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /su, '')
      .split(' ')
      .map(Number);
    const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = fields.slice(11, 15);
    return {
      parent: fields[1] ?? 0,
      seconds: (user + system) / 100,
      ofEnded: (endedUser + endedSystem) / 100,
    };
  } catch {
    return null;
  }
}

/** The processor time of the server and of all its processes. */
function databaseSeconds(folder: string): number {
  const server = Number(readFileSync(`${folder}/data/postmaster.pid`, 'utf8').split('\n')[0]);
  const children = readdirSync('/proc')
    .map((name) => timesOf(Number(name)))
    .filter((times) => times?.parent === server);
  const own = timesOf(server);
  return [own, ...children].reduce((sum, times) => sum + (times?.seconds ?? 0), own?.ofEnded ?? 0);
}

/** Stores accounts that are due now, or never. */
async function fill({ db }: Bench, accounts: number, dueAt: 'now()' | 'null'): Promise<void> {
  await db.query(`truncate turns, replicas, config_generations`);
  await db.query(
    `insert into turns (account, lane, schedule, timezone, jitter_ms, config_digest, config_gen, last_tick_at, due_at)
     select 'account-' || n, ($2::text[])[1 + n % $3], '0 0 1 1 *', 'Etc/UTC', 0, 'sha256:' || n, 0, now(), ${dueAt}
     from generate_series(0, $1 - 1) as numbers (n)`,
    [accounts, [...LANES], LANES.length],
  );
  await db.query('vacuum analyze turns');
}

const ms = (numbers: readonly number[], part: number): string => `${quantile(numbers, part).toFixed(1)} ms`;
const percent = (seconds: number, of: number): string => `${((seconds / of) * 100).toFixed(0)} %`;

async function measureClaims(bench: Bench, accounts: number, most: number): Promise<void> {
  await fill(bench, accounts, 'now()');
  const seconds = Math.min(5, SECONDS);
  const before = databaseSeconds(bench.folder);
  const startedAt = performance.now();
  const figures = await all(bench, { do: 'claim', most, seconds });
  const took = (performance.now() - startedAt) / 1000;
  const claimed = figures.reduce((sum, each) => sum + each.claimed, 0);
  // When all are claimed early, the rest of the time found nothing.
  const isExhausted = claimed === accounts;
  const busy = figures.map(({ tookMs }) => tookMs.slice(0, Math.ceil(claimed / figures.length / most)));
  const busySeconds = Math.max(...busy.map((each) => each.reduce((sum, n) => sum + n, 0) / 1000));
  const rate = claimed / (isExhausted ? busySeconds : seconds);
  const tookMs = busy.flat();
  bench.rows.push([
    `${accounts} accounts, ${most === 1 ? 'single claims' : `claims of ${most}`}`,
    `${Math.round(rate)} claims/s${isExhausted ? ', until none was due' : ''}`,
    ms(tookMs, 0.5),
    ms(tookMs, 0.99),
    percent(databaseSeconds(bench.folder) - before, took),
    '',
  ]);
}

/** Starts the replicas and waits until each has stored or read the schedules. */
async function startRunning(bench: Bench, accounts: number): Promise<void> {
  await fill(bench, accounts, 'null');
  await all(bench, { do: 'run', accounts, runMs: Number(values['run-ms']) });
  for (let isReady = false; !isReady; await pause(500)) {
    const { rows } = await bench.db.query('select count(*)::int as replicas from replicas where is_dead = 0');
    isReady = rows[0]?.replicas === bench.replicas.length;
  }
  // The replicas know of each other, and nothing of the start is in the figures.
  await pause(5000);
  await bench.db.query(`update turns set due_at = null, tick_at = null where holder is null`);
}

async function measureIdle(bench: Bench, accounts: number): Promise<void> {
  await all(bench, { do: 'report' });
  const before = databaseSeconds(bench.folder);
  await pause(SECONDS * 1000);
  const database = databaseSeconds(bench.folder) - before;
  const replicas = (await all(bench, { do: 'report' })).map(({ cpuSeconds }) => cpuSeconds);
  bench.rows.push([
    `${accounts} accounts, nothing due`,
    '',
    '',
    '',
    percent(database, SECONDS),
    percent(quantile(replicas, 0.5), SECONDS),
  ]);
}

async function measureDelays(bench: Bench, accounts: number, rate: number): Promise<void> {
  await all(bench, { do: 'report' });
  const firstMs = Date.now() + 3000;
  const count = Math.min(accounts, rate * SECONDS);
  await bench.db.query(
    `update turns set due_at = to_timestamp(($1 + substr(account, 9)::int * 1000.0 / $2) / 1000), tick_at = now()
     where substr(account, 9)::int < $3`,
    [firstMs, rate, count],
  );
  const before = databaseSeconds(bench.folder);
  await pause(firstMs - Date.now() + (count / rate) * 1000 + 2000);
  const database = databaseSeconds(bench.folder) - before;
  const figures = await all(bench, { do: 'report' });
  const delays = figures
    .flatMap(({ starts }) => starts)
    .map(([account, atMs]) => atMs - (firstMs + (Number(account.slice(8)) * 1000) / rate));
  const seconds = count / rate + 2;
  bench.rows.push([
    `${accounts} accounts, ${rate} runs/s`,
    `${delays.length} of ${count} runs`,
    ms(delays, 0.5),
    ms(delays, 0.99),
    percent(database, seconds),
    percent(
      quantile(
        figures.map(({ cpuSeconds }) => cpuSeconds),
        0.5,
      ),
      seconds,
    ),
  ]);
}

async function measure(): Promise<void> {
  const programs = findPostgres();
  if (programs === null) throw new Error(NO_POSTGRES);
  const settings = { fsync: 'on', full_page_writes: 'on', synchronous_commit: 'on' };
  const cluster = await startCluster(programs, { settings });
  try {
    const url = urlOf(cluster, 'postgres');
    await (await openPostgresStore(locationOf(url))).close();
    const db = new pg.Client({ connectionString: url });
    // The end of the cluster after a failure must not hide that failure.
    db.on('error', () => undefined);
    await db.connect();
    await db.query(`set search_path to ${SCHEMA}`);
    const replicas = Array.from({ length: Number(values.replicas) }, () => startReplica(url));
    const bench: Bench = { replicas, db, folder: cluster.socket, rows: [] };
    for (const accounts of listOf(values.accounts)) {
      await measureClaims(bench, accounts, 1);
      await measureClaims(bench, accounts, 500);
      await startRunning(bench, accounts);
      await measureIdle(bench, accounts);
      for (const rate of listOf(values.rates)) await measureDelays(bench, accounts, rate);
      await all(bench, { do: 'stop' });
    }
    for (const { child } of replicas) child.disconnect();
    await db.end();
    print(bench, cluster.version);
  } finally {
    await cluster.remove();
  }
}

function print({ rows, replicas }: Bench, version: string): void {
  const [cpu] = cpus();
  console.log(
    `${replicas.length} replicas and PostgreSQL ${version} on ${availableParallelism()} × ${cpu?.model.trim() ?? 'cores'}, ` +
      `load ${loadavg()[0]?.toFixed(1)} at the end. A delay is from due to start; a percentage is of one core.`,
  );
  const head = ['what', 'count', 'median', 'p99', 'database', 'each replica'];
  console.log(table(head, rows));
}

const url = process.env['ROLECALL_BENCH_DATABASE'];
await (url === undefined ? measure() : obey(locationOf(url)));
