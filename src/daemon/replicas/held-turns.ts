// The turns that this replica holds: runs each, and ends it in the store, however long that takes.
import type { StoreError } from '../../core/errors.ts';
import type { Clock } from '../../core/ports.ts';
import type { ClaimedTurn, TurnStore } from '../../core/turn-store.ts';
import type { Turn } from '../../core/turns.ts';
import { triggerOf } from '../next-run.ts';
import { nextTick, ticksBetween } from './next-tick.ts';
import type { Identity } from './replica.ts';

export interface HeldTurnsOptions {
  readonly store: Pick<TurnStore, 'end' | 'release'>;
  readonly clock: Clock;
  readonly random: () => number;
  /** Whether this replica still holds the turn, and may run the account with its configuration. */
  readonly isCurrent: (replica: string, turn: ClaimedTurn) => Promise<boolean>;
  readonly onSkipped: (account: string) => void;
  /** A run could not be made, because the store could not be used. */
  readonly onStoreFailed: (error: StoreError) => void;
  /** A place is free. */
  readonly onEnded: () => void;
}

export interface HeldTurns {
  /** Runs the account of the turn. `run` never rejects. */
  begin(turn: ClaimedTurn, identity: Identity, run: (turn: Turn) => Promise<void>): void;
  /** The run that is in progress has ended and was not interrupted, with its number of failures in a row. */
  completed(account: string, failures: number): void;
  accounts(): readonly string[];
  /** The number of runs of each base address. */
  loads(): ReadonlyMap<string, number>;
  /** Resolves when no run is left. */
  allEnded(): Promise<void>;
}

interface Held {
  readonly claimed: ClaimedTurn;
  readonly ended: Promise<void>;
}

/** How soon to try again while the database is not available. */
const RETRY_MS = 500;

/** The database refuses this replica or is not available. Other errors are those of one account. */
const UNUSABLE: ReadonlySet<string> = new Set([
  'store_busy',
  'store_full',
  'store_readonly',
  'store_unavailable',
  'store_unopenable',
]);

export function createHeldTurns(options: HeldTurnsOptions): HeldTurns {
  const { store, clock, random } = options;
  const held = new Map<string, Held>();
  /** The failures in a row of the runs that have ended and whose turns have not. */
  const completed = new Map<string, number>();

  /** Repeats the work until it succeeds or others may have taken over the turn. */
  async function persistently(identity: Identity, work: () => Promise<void>): Promise<void> {
    while (identity.isValid()) {
      try {
        return await work();
      } catch {
        // The replica itself reports a database that is not available.
        await clock.sleep(RETRY_MS);
      }
    }
  }

  async function end(claimed: ClaimedTurn, identity: Identity): Promise<void> {
    const { account, lastTickMs } = claimed;
    let turn = claimed;
    for (;;) {
      const nowMs = identity.nowMs();
      const past = { failures: completed.get(account) ?? claimed.failures, lastTickMs };
      const line = await store.end(identity.id, turn, nextTick(turn.line, past, nowMs, random()));
      if (line === null) break;
      turn = { ...turn, line };
    }
    for (let n = ticksBetween(turn.line, claimed.atMs, identity.nowMs()); n > 0; n -= 1)
      options.onSkipped(account);
  }

  async function runAndEnd(
    claimed: ClaimedTurn,
    identity: Identity,
    run: (turn: Turn) => Promise<void>,
  ): Promise<void> {
    /** How the turn is given back; null ends it. */
    let release: Parameters<TurnStore['release']>[2] | null = null;
    const signals = identity.signals();
    await run({
      account: claimed.account,
      trigger: claimed.requested ?? triggerOf(claimed.tickMs ?? claimed.atMs, claimed.atMs),
      signals,
      permit: { type: 'turn', replica: identity.id, epoch: claimed.epoch },
      async isMade() {
        if (await options.isCurrent(identity.id, claimed)) return false;
        // A replica with a newer configuration makes it, or the new holder of the turn does.
        release = 'later';
        return true;
      },
      later() {
        release = 'later';
      },
      whenUnlocked() {
        release = 'locked';
      },
      storeFailed(error) {
        if (!UNUSABLE.has(error.code)) return false;
        release = 'interrupted';
        options.onStoreFailed(error);
        return true;
      },
    });
    await persistently(identity, async () => {
      if (release !== null) await store.release(identity.id, claimed, release);
      else if (signals.stop.aborted && !completed.has(claimed.account))
        await store.release(identity.id, claimed, 'interrupted');
      else await end(claimed, identity);
    });
  }

  return {
    begin(claimed, identity, run) {
      const { account } = claimed;
      completed.delete(account);
      const ended = runAndEnd(claimed, identity, run).finally(() => {
        held.delete(account);
        options.onEnded();
      });
      held.set(account, { claimed, ended });
    },
    completed(account, failures) {
      const turn = held.get(account)?.claimed;
      if (turn === undefined) return;
      // Failures that were not journaled are those of this process; runs of other replicas may have failed before.
      completed.set(account, failures === 0 ? 0 : Math.max(failures, turn.failures + 1));
    },
    accounts: () => [...held.keys()],
    loads() {
      const loads = new Map<string, number>();
      for (const { claimed } of held.values()) loads.set(claimed.lane, (loads.get(claimed.lane) ?? 0) + 1);
      return loads;
    },
    async allEnded() {
      await Promise.all([...held.values()].map(({ ended }) => ended));
    },
  };
}
