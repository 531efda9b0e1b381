// The turns of several replicas: the schedules are in the store, and each replica claims what is due and runs it.
import { describeFailure } from '../../app/run-result.ts';
import type { Clock, RunSignals } from '../../core/ports.ts';
import type { TurnStore } from '../../core/turn-store.ts';
import type { Turn, Turns } from '../../core/turns.ts';
import type { Log } from '../log.ts';
import type { CompareCommits } from './config-generation.ts';
import { createHeldTurns } from './held-turns.ts';
import { laneRooms } from './lane-rooms.ts';
import { nextTick } from './next-tick.ts';
import { createReplica, type Identity } from './replica.ts';
import { createScheduleTable } from './schedule-table.ts';
import { createStoredConfiguration, type ReplicaConfiguration } from './stored-configuration.ts';

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
  readonly compareCommits: CompareCommits;
  /** Called with the number of replicas, each of which may use its share of the limits. */
  readonly onReplicas: (replicas: number) => void;
}

/** The longest time between two looks at the store. */
const POLL_MS = 1000;

export function createReplicaTurns(options: ReplicaTurnsOptions): Turns {
  const { store, clock, log, random } = options;
  const table = createScheduleTable(random);
  const configured = createStoredConfiguration({ ...options, table });
  let startsAll: boolean | null = null;
  let run: ((turn: Turn) => Promise<void>) | null = null;
  let beatMs = clock.nowMs();
  let wake = new AbortController();
  let isStopped = false;
  let problem: string | null = null;
  /** Whether turns may be held of which this process does not know: those of a claim whose answer was lost or late. */
  let mayHoldUnknown = false;
  /** Whether the database refused a run, which needs more connections than a claim, so that nothing is claimed. */
  let isRefused = false;
  /** Accounts whose runs must be made later, for want of memory. */
  const delayed = new Set<string>();

  const held = createHeldTurns({
    store,
    clock,
    random,
    isCurrent: (replica, turn) => configured.isCurrent(replica, turn),
    onSkipped: options.onSkipped,
    onStoreFailed({ code, message }) {
      report('run_given_back', code, message);
      isRefused = true;
    },
    onEnded() {
      // A run that the database refuses would otherwise start again at once, and again, as long as the probe succeeds.
      if (!isRefused) wake.abort();
    },
  });
  const replica = createReplica({
    ...options,
    runsEnded: () => held.allEnded(),
    async onBeat({ replicas, isKnown }) {
      options.onReplicas(replicas);
      mayHoldUnknown = true;
      await configured.look(replica.identity()?.id ?? null);
      if (isKnown) wake.abort();
    },
  });

  /** Logs the first of a series of failures. */
  function report(event: string, code: string, message: string): void {
    if (problem === null)
      log.error({ event, code, error: message }, 'the database could not be used; nothing is claimed');
    problem = message;
  }

  async function startFirst(identity: Identity): Promise<void> {
    if (startsAll === true && identity.isFirst()) await store.startAll();
    startsAll = false;
  }

  /** Nobody would run the accounts of a claim that succeeded although its answer never came here. */
  async function releaseUnknown(identity: Identity): Promise<void> {
    if (!mayHoldUnknown) return;
    mayHoldUnknown = false;
    try {
      await store.releaseOthers(identity.id, held.accounts());
    } catch (error) {
      mayHoldUnknown = true;
      throw error;
    }
  }

  /** Claims what is due and fits, and returns the time until something else may be due. */
  async function claim(identity: Identity): Promise<number> {
    for (;;) {
      const { rooms, free } = laneRooms(table.lanes(), held.loads(), options.maxRuns());
      if (run === null || rooms.length === 0 || isStopped || isRefused) return POLL_MS;
      const except = [...delayed].filter((account) => options.mayStart?.(account) === false);
      const limits = { most: free, except };
      await releaseUnknown(identity);
      const claims = await store.claim(identity.id, configured.generation(), rooms, limits);
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
      await configured.store(identity);
      if (startsAll === null) return POLL_MS;
      if (isRefused) await store.probe();
      isRefused = false;
      await startFirst(identity);
      const waitMs = await claim(identity);
      // A run may have been refused meanwhile.
      if (!isRefused) problem = null;
      return waitMs;
    } catch (error) {
      const { code, message } = describeFailure(error);
      report('claim_failed', code, message);
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
      configured.changed();
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
