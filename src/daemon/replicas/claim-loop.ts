// Claims what is due and fits, and begins its runs, while this replica holds its lease and the database accepts it.
import type { Clock } from '../../core/ports.ts';
import type { ClaimedTurn, TurnStore } from '../../core/turn-store.ts';
import type { Turn } from '../../core/turns.ts';
import type { StoreHealth } from '../store-health.ts';
import type { HeldTurns } from './held-turns.ts';
import { laneRooms } from './lane-rooms.ts';
import type { Identity, Replica } from './replica.ts';
import type { ScheduleTable } from './schedule-table.ts';
import type { StoredConfiguration } from './stored-configuration.ts';

export interface ClaimLoopOptions {
  readonly store: Pick<TurnStore, 'probe' | 'hasPredecessor' | 'startAll' | 'claim' | 'releaseOthers'>;
  readonly clock: Clock;
  readonly report: StoreHealth['report'];
  readonly maxRuns: () => number;
  /** Whether an account can start here now. Another replica may have the memory that a large one needs. */
  readonly mayStart?: (account: string) => boolean;
  readonly replica: Pick<Replica, 'identity'>;
  readonly configured: Pick<StoredConfiguration, 'store' | 'generation'>;
  readonly table: Pick<ScheduleTable, 'lanes'>;
  readonly held: Pick<HeldTurns, 'begin' | 'accounts' | 'loads'>;
}

export interface ClaimLoop {
  start(run: (turn: Turn) => Promise<void>): void;
  /** Claims begin after this call, which makes all accounts due if this is the first replica and `isEach`. */
  startFirst(isEach: boolean): void;
  /** Looks at once: something may be due, or a place may be free. */
  wake(): void;
  /** The answer to an earlier claim may have been lost. */
  leaseRenewed(): void;
  /** The store refused a run. Nothing is claimed before it accepts new connections. */
  runRefused(error: unknown): void;
  runEnded(): void;
  isStopped(): boolean;
  /** Resolves when nothing is claimed any more; a claim that was under way has begun its runs then. */
  stop(): Promise<void>;
}

/** The longest time between two looks at the store. */
const POLL_MS = 1000;

export function createClaimLoop(options: ClaimLoopOptions): ClaimLoop {
  const { store, clock, report, replica, configured, table, held } = options;
  let run: ((turn: Turn) => Promise<void>) | null = null;
  let startsAll: boolean | null = null;
  let wake = new AbortController();
  let isStopped = false;
  /** Whether turns may be held of which this process does not know: those of a claim whose answer was lost or late. */
  let mayHoldUnknown = false;
  /** Whether the store refused a run, which needs more connections than a claim. */
  let isRefused = false;
  /** Accounts whose runs must be made later, for want of memory. */
  const delayed = new Set<string>();
  let working: Promise<void> | null = null;

  async function startFirst(identity: Identity): Promise<void> {
    if (startsAll !== true) return;
    if (identity.isFirst()) await store.startAll();
    // The first one may end before it has made all accounts due; then this replica does it.
    else if (!(await store.hasPredecessor(identity.id))) return;
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
      await releaseUnknown(identity);
      const limits = { most: free, except };
      const claims = await store.claim(identity.id, configured.generation(), rooms, limits);
      for (const turn of claims.turns) begin(turn, identity, run);
      if (claims.turns.length > 0) continue;
      return claims.nextDueMs === null
        ? POLL_MS
        : Math.min(POLL_MS, Math.max(1, claims.nextDueMs - claims.nowMs));
    }
  }

  function begin(claimed: ClaimedTurn, identity: Identity, runTurn: (turn: Turn) => Promise<void>): void {
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
      // Once this replica has stored its configuration, others leave it to this one to make all accounts due.
      if (startsAll === null) return POLL_MS;
      await configured.store(identity);
      if (isRefused) await store.probe();
      isRefused = false;
      await startFirst(identity);
      const waitMs = await claim(identity);
      report('claims', null);
      if (held.accounts().length === 0) storeAccepts();
      return waitMs;
    } catch (error) {
      report('claims', error);
      return POLL_MS;
    }
  }

  /** A run has ended, or none is in progress. */
  function storeAccepts(): void {
    if (!isRefused) report('runs', null);
  }

  async function work(): Promise<void> {
    while (!isStopped) {
      wake = new AbortController();
      const waitMs = await step();
      if (!isStopped) await clock.sleep(waitMs, wake.signal);
    }
  }

  return {
    start(runTurn) {
      run = runTurn;
      working ??= work();
    },
    startFirst(isEach) {
      startsAll = isEach;
      wake.abort();
    },
    wake: () => wake.abort(),
    leaseRenewed() {
      mayHoldUnknown = true;
    },
    runRefused(error) {
      isRefused = true;
      report('runs', error);
    },
    runEnded() {
      storeAccepts();
      // A run that the database refuses would otherwise start again at once, and again, as long as the probe succeeds.
      if (!isRefused) wake.abort();
    },
    isStopped: () => isStopped,
    async stop() {
      isStopped = true;
      wake.abort();
      await working;
    },
  };
}
