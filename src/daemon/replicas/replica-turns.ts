// The turns of several replicas: the schedules are in the store, and each replica claims what is due and runs it.
import type { Clock, RunSignals } from '../../core/ports.ts';
import type { TurnStore } from '../../core/turn-store.ts';
import type { Turns } from '../../core/turns.ts';
import type { Log } from '../log.ts';
import type { StoreHealth } from '../store-health.ts';
import { createClaimLoop } from './claim-loop.ts';
import type { CompareCommits } from './config-generation.ts';
import { createHeldTurns } from './held-turns.ts';
import { nextTick } from './next-tick.ts';
import { createReplica } from './replica.ts';
import { createScheduleTable } from './schedule-table.ts';
import {
  createStoredConfiguration,
  type ReplicaConfiguration,
  type StoredConfigurationOptions,
} from './stored-configuration.ts';

export interface ReplicaTurnsOptions {
  readonly store: TurnStore;
  readonly clock: Clock;
  readonly random: () => number;
  readonly newId: () => string;
  readonly log: Log;
  /** Where the lease, the claims and the runs report whether they can use the store. */
  readonly report: StoreHealth['report'];
  readonly version: string;
  readonly leaseMs: number;
  readonly signals: RunSignals;
  readonly maxRuns: () => number;
  /** Whether an account can start here now. Another replica may have the memory that a large one needs. */
  readonly mayStart?: (account: string) => boolean;
  readonly onSkipped: (account: string) => void;
  readonly readConfiguration: () => Promise<ReplicaConfiguration>;
  readonly readCommit: StoredConfigurationOptions['readCommit'];
  readonly compareCommits: CompareCommits;
  /** Called with the number of replicas, each of which may use its share of the limits. */
  readonly onReplicas: (replicas: number) => void;
}

export function createReplicaTurns(options: ReplicaTurnsOptions): Turns {
  const { store, clock, random } = options;
  const table = createScheduleTable(random);
  const configured = createStoredConfiguration({ ...options, table });
  const held = createHeldTurns({
    ...options,
    isCurrent: (replica, turn) => configured.isCurrent(replica, turn),
    onStoreFailed: (error) => claims.runRefused(error),
    onEnded: () => claims.runEnded(),
  });
  const replica = createReplica({
    ...options,
    runsEnded: () => held.allEnded(),
    async onBeat({ replicas, isKnown }) {
      options.onReplicas(replicas);
      claims.leaseRenewed();
      await configured.look(replica.identity()?.id ?? null);
      if (isKnown) claims.wake();
    },
  });
  const claims = createClaimLoop({ ...options, replica, configured, table, held });
  let listening: Promise<() => Promise<void>> | null = null;

  return {
    update(schedules) {
      table.set(schedules);
      configured.changed();
      claims.wake();
    },
    start(run) {
      replica.start();
      claims.start(run);
      listening = store.listen({ onTurn: () => claims.wake(), onReplica: () => replica.beatNow() });
    },
    startFirst: (_earlier, isEach) => claims.startFirst(isEach),
    // Also while this replica stops: another one makes the run, or the next that starts.
    sync: async (account) => ((await store.sync(account)) ? 'queued' : 'unknown'),
    approve: (account, givenAtMs) => store.approve(account, new Date(givenAtMs).toISOString()),
    ended: (account, failures) => held.completed(account, failures),
    async endBackoffs() {
      const nowMs = replica.identity()?.nowMs();
      if (nowMs === undefined) return;
      for (const { account, line } of await store.recovered())
        await store.endBackoff(
          account,
          line,
          nextTick(line, { failures: 0, lastTickMs: nowMs }, nowMs, random()),
        );
    },
    startNext: () => claims.wake(),
    states: (accounts) => store.states(accounts),
    active: () => store.active(),
    accounts: () => table.accounts(),
    nextRunMs: (account) => table.nextRunMs(account, clock.nowMs()),
    longestGapMs: (account) => table.longestGapMs(account, clock.nowMs()),
    replicas: () => store.replicas(replica.identity()?.id ?? null),
    problems: () => [replica.problem() ?? []].flat(),
    lastBeatMs: () => replica.checkedMs(),
    isStopped: () => claims.isStopped(),
    async stop() {
      await claims.stop();
      // The lease is renewed until the runs have ended.
      await held.allEnded();
      await replica.stop();
      await (
        await listening
      )?.();
    },
  };
}
