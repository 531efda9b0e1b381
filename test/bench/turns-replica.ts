// One replica of `npm run bench:turns`, as a process of its own: it claims turns as fast as it can, or runs accounts when
// they are due, as a daemon does. It obeys the messages of the process that started it.
import { randomUUID } from 'node:crypto';
import type { AccountSchedule } from '../../src/core/turns.ts';
import type { TurnStore } from '../../src/core/turn-store.ts';
import { createReplicaTurns } from '../../src/daemon/replicas/replica-turns.ts';
import { sleep, systemClock } from '../../src/platform/clock.ts';
import { openPostgresStore } from '../../src/store/postgres/open-postgres-store.ts';
import type { PostgresLocation } from '../../src/store/postgres/location.ts';

export const LANES = ['https://us.example.com', 'https://eu.example.com', 'https://au.example.com'] as const;
export const laneOf = (index: number): string => LANES[index % LANES.length] ?? LANES[0];

/** What the process is to do. */
export type Order =
  | { readonly do: 'claim'; readonly most: number; readonly seconds: number }
  /** Runs accounts from now on; each run takes so long. */
  | { readonly do: 'run'; readonly accounts: number; readonly runMs: number }
  /** Returns the starts and the processor time since the last report. */
  | { readonly do: 'report' }
  | { readonly do: 'stop' };

export interface ReplicaFigures {
  readonly claimed: number;
  /** The milliseconds of each statement. */
  readonly tookMs: readonly number[];
  /** The accounts in the order in which they started, with the epoch milliseconds. */
  readonly starts: readonly (readonly [account: string, atMs: number])[];
  readonly cpuSeconds: number;
}

const LEASE_MS = 60_000;
const NOTHING: ReplicaFigures = { claimed: 0, tookMs: [], starts: [], cpuSeconds: 0 };

export function scheduleOf(index: number): AccountSchedule {
  const schedule = { schedule: '0 0 1 1 *', timezone: 'Etc/UTC', jitterMs: 0 };
  return {
    ...schedule,
    name: `account-${index}`,
    lane: laneOf(index),
    digest: `sha256:${index}`,
    revision: '',
    isBroken: false,
  };
}

/** Claims for some seconds, and leaves the turns to a statement of the other process. */
async function claimFor(turns: TurnStore, most: number, seconds: number): Promise<ReplicaFigures> {
  const id = randomUUID();
  await turns.register(id, 'bench', LEASE_MS);
  const tookMs: number[] = [];
  let claimed = 0;
  const endsAt = performance.now() + seconds * 1000;
  for (let turn = 0; performance.now() < endsAt; turn += 1) {
    const startedAt = performance.now();
    const rooms =
      most === 1 ? [{ lane: laneOf(turn), room: 1 }] : LANES.map((lane) => ({ lane, room: most }));
    claimed += (await turns.claim(id, 0, rooms, { most, except: [] })).turns.length;
    tookMs.push(performance.now() - startedAt);
  }
  return { ...NOTHING, claimed, tookMs };
}

function complain(data: object, message: string): void {
  console.error(`replica ${process.pid}: ${message} ${JSON.stringify(data)}`);
}

/** Obeys the orders of the parent until it receives `stop`. */
export async function obey(location: PostgresLocation): Promise<void> {
  const store = await openPostgresStore(location);
  const { turns } = store;
  if (turns === null) throw new Error('the store has no turns');
  const stop = new AbortController();
  let running: ReturnType<typeof createReplicaTurns> | null = null;
  let starts: [string, number][] = [];
  let cpu = process.cpuUsage();

  function start(accounts: number, runMs: number, of: TurnStore): void {
    const schedules = Array.from({ length: accounts }, (_, index) => scheduleOf(index));
    running = createReplicaTurns({
      store: of,
      clock: systemClock,
      random: Math.random,
      newId: randomUUID,
      log: { debug: () => undefined, info: () => undefined, warn: complain, error: complain },
      report: (part, error) => error === null || complain({ error }, part),
      version: 'bench',
      leaseMs: LEASE_MS,
      signals: { stop: stop.signal, kill: stop.signal },
      maxRuns: () => 32,
      onSkipped: () => undefined,
      readConfiguration: async () => ({ schedules, commit: null }),
      readCommit: async () => null,
      compareCommits: async () => 'same',
      onReplicas: () => undefined,
    });
    running.update(schedules);
    running.start(async ({ account }) => {
      starts.push([account, Date.now()]);
      await sleep(runMs);
    });
    running.startFirst([], false);
  }

  function report(): ReplicaFigures {
    const { user, system } = process.cpuUsage(cpu);
    const figures = { ...NOTHING, starts, cpuSeconds: (user + system) / 1e6 };
    starts = [];
    cpu = process.cpuUsage();
    return figures;
  }

  async function answer(order: Order): Promise<ReplicaFigures> {
    switch (order.do) {
      case 'claim':
        return await claimFor(turns ?? failed(), order.most, order.seconds);
      case 'run':
        start(order.accounts, order.runMs, turns ?? failed());
        return NOTHING;
      case 'report':
        return report();
      case 'stop':
        await running?.stop();
        running = null;
        return NOTHING;
    }
  }

  process.on('message', (order: Order) => {
    void answer(order).then((figures) => process.send?.(figures));
  });
  process.on('disconnect', () => process.exit(0));
}

function failed(): never {
  throw new Error('the store has no turns');
}
