// The turns of several replicas: the schedules are in the store, and each replica claims what is due and runs it.
import { describeFailure } from '../../app/run-result.ts';
import type { Clock, RunSignals } from '../../core/ports.ts';
import type { CommitRelation } from '../../core/repository.ts';
import type { ConfigCommit } from '../../core/settings.ts';
import type { TurnStore } from '../../core/turn-store.ts';
import type { AccountSchedule, Turn, Turns } from '../../core/turns.ts';
import type { Log } from '../log.ts';
import { findGeneration } from './config-generation.ts';
import { createHeldTurns } from './held-turns.ts';
import { laneRooms } from './lane-rooms.ts';
import { nextTick } from './next-tick.ts';
import { createReplica, type Identity } from './replica.ts';
import { createScheduleTable } from './schedule-table.ts';

/** What a replica reads of its files, all of the same commit. */
export interface ReplicaConfiguration {
  readonly schedules: readonly AccountSchedule[];
  readonly commit: ConfigCommit | null;
}

export interface ReplicaTurnsOptions {
  readonly store: TurnStore;
  readonly clock: Clock;
  readonly random: () => number;
  readonly newId: () => string;
  readonly log: Log;
  readonly version: string;
  readonly leaseMs: number;
  readonly signals: RunSignals;
  readonly maxRuns: () => number;
  /** Whether an account can start here now. Another replica may have the memory that a large one needs. */
  readonly mayStart?: (account: string) => boolean;
  readonly onSkipped: (account: string) => void;
  readonly readConfiguration: () => Promise<ReplicaConfiguration>;
  readonly compareCommits: (a: string, b: string) => Promise<CommitRelation>;
  /** Called with the number of replicas, each of which may use its share of the limits. */
  readonly onReplicas: (replicas: number) => void;
}

/** The longest time between two looks at the store. */
const POLL_MS = 1000;

export function createReplicaTurns(options: ReplicaTurnsOptions): Turns {
  const { store, clock, log, random } = options;
  const table = createScheduleTable(random);
  let configuration = { generation: 0, commit: null as string | null };
  let isChanged = true;
  let startsAll: boolean | null = null;
  let run: ((turn: Turn) => Promise<void>) | null = null;
  let beatMs = clock.nowMs();
  let wake = new AbortController();
  let isStopped = false;
  let problem: string | null = null;
  let waiting = 0;
  /** Whether the answer to a claim is missing. */
  let isClaiming = false;
  /** Accounts whose runs must be made later, for want of memory. */
  const delayed = new Set<string>();

  const held = createHeldTurns({
    store,
    clock,
    random,
    generation: () => configuration.generation,
    onSkipped: options.onSkipped,
    onEnded: () => wake.abort(),
  });
  const replica = createReplica({
    ...options,
    state: () => configuration,
    runsEnded: () => held.allEnded(),
    async onBeat({ replicas, isKnown }) {
      options.onReplicas(replicas);
      table.setNextRuns(await store.nextRuns());
      await checkGeneration();
      if (isKnown) wake.abort();
    },
  });

  /** Notices accounts that wait for a newer commit than that of this replica. */
  async function checkGeneration(): Promise<void> {
    const count = await store.waitingForNewer(configuration.generation);
    if (count > 0 && waiting === 0)
      log.warn(
        { event: 'configuration_older', commit: configuration.commit, accounts: count },
        'accounts that a newer commit changed wait for a replica that has it',
      );
    waiting = count;
    // The commit may be fetched, or all replicas may have returned to another one.
    if (count > 0) isChanged = true;
  }

  async function upload(identity: Identity): Promise<void> {
    if (!isChanged) return;
    isChanged = false;
    try {
      const { schedules, commit } = await options.readConfiguration();
      const generation = await findGeneration(commit, { ...options, replicaId: identity.id });
      await store.update(generation, commit?.dirty ?? false, table.due(schedules, identity.nowMs()));
      configuration = { generation, commit: commit?.sha ?? null };
    } catch (error) {
      isChanged = true;
      throw error;
    }
  }

  async function startFirst(identity: Identity): Promise<void> {
    if (startsAll === true && identity.isFirst()) await store.startAll();
    startsAll = false;
  }

  /** A claim whose answer was lost has succeeded, perhaps; nobody would run its accounts. */
  async function releaseUnknown(identity: Identity): Promise<void> {
    if (!isClaiming) return;
    await store.releaseOthers(identity.id, held.accounts());
    isClaiming = false;
  }

  /** Claims what is due and fits, and returns the time until something else may be due. */
  async function claim(identity: Identity): Promise<number> {
    for (;;) {
      const { rooms, free } = laneRooms(table.lanes(), held.loads(), options.maxRuns());
      if (run === null || rooms.length === 0 || isStopped) return POLL_MS;
      const except = [...delayed].filter((account) => options.mayStart?.(account) === false);
      const limits = { most: free, except };
      await releaseUnknown(identity);
      isClaiming = true;
      const claims = await store.claim(identity.id, configuration.generation, rooms, limits);
      isClaiming = false;
      for (const turn of claims.turns) begin(turn, identity, run);
      if (claims.turns.length > 0) continue;
      return claims.nextDueMs === null
        ? POLL_MS
        : Math.min(POLL_MS, Math.max(1, claims.nextDueMs - claims.nowMs));
    }
  }

  function begin(
    claimed: Parameters<typeof held.begin>[0],
    identity: Identity,
    runTurn: (turn: Turn) => Promise<void>,
  ): void {
    const { account } = claimed;
    delayed.delete(account);
    held.begin(claimed, identity, (turn) =>
      runTurn({
        ...turn,
        later() {
          delayed.add(account);
          turn.later();
        },
      }),
    );
  }

  async function step(): Promise<number> {
    const identity = replica.identity();
    // A replica that others do not know of yet could exceed a limit that they share.
    if (identity === null || !identity.isValid() || !identity.isKnown()) return POLL_MS;
    try {
      await upload(identity);
      if (startsAll === null) return POLL_MS;
      await startFirst(identity);
      const waitMs = await claim(identity);
      problem = null;
      return waitMs;
    } catch (error) {
      const { code, message } = describeFailure(error);
      if (problem === null)
        log.error({ event: 'claim_failed', code, error: message }, 'accounts could not be claimed');
      problem = message;
      return POLL_MS;
    }
  }

  async function work(): Promise<void> {
    while (!isStopped) {
      wake = new AbortController();
      const waitMs = await step();
      if (!isStopped) await clock.sleep(waitMs, wake.signal);
    }
  }

  /** Ends the runs of a lost lease in time, also while a request to the database hangs. */
  async function watch(): Promise<void> {
    while (!watched.signal.aborted) {
      beatMs = clock.nowMs();
      replica.check();
      await clock.sleep(Math.min(POLL_MS, options.leaseMs / 8), watched.signal);
    }
  }
  const watched = new AbortController();

  let working: Promise<void> | null = null;
  let watching: Promise<void> | null = null;
  let listening: Promise<() => Promise<void>> | null = null;

  return {
    update(schedules) {
      table.set(schedules);
      isChanged = true;
      wake.abort();
    },
    start(runTurn) {
      run = runTurn;
      replica.start();
      working = work();
      watching = watch();
      listening = store.listen({ onTurn: () => wake.abort(), onReplica: () => replica.beatNow() });
    },
    startFirst(_earlier, isEach) {
      startsAll = isEach;
      wake.abort();
    },
    async sync(account) {
      if (isStopped) return 'stopping';
      return (await store.sync(account)) ? 'queued' : 'unknown';
    },
    approve: (account, givenAtMs) => store.approve(account, new Date(givenAtMs).toISOString()),
    ended: (account, failures) => held.failed(account, failures),
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
    startNext: () => wake.abort(),
    states: (accounts) => store.states(accounts),
    active: () => store.active(),
    nextRunMs: (account) => table.nextRunMs(account, clock.nowMs()),
    longestGapMs: (account) => table.longestGapMs(account, clock.nowMs()),
    replicas: () => store.replicas(replica.identity()?.id ?? null),
    problems: () => [replica.problem() ?? problem ?? []].flat(),
    lastBeatMs: () => beatMs,
    isStopped: () => isStopped,
    async stop() {
      isStopped = true;
      wake.abort();
      // A claim that was under way has begun its runs then; the lease is renewed until they have ended.
      await working;
      await held.allEnded();
      watched.abort();
      await watching;
      await replica.stop();
      await (
        await listening
      )?.();
    },
  };
}
