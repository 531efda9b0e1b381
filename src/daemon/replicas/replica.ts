// Keeps this process registered as a replica: renews its lease, and begins again under another id when that was not
// possible in time, because then others run its accounts.
import { setMaxListeners } from 'node:events';
import { StoreError } from '../../core/errors.ts';
import type { Clock, RunSignals } from '../../core/ports.ts';
import type { Beat, TurnStore } from '../../core/turn-store.ts';
import type { Log } from '../log.ts';
import type { StoreHealth } from '../store-health.ts';
import { createLeaseClock, type LeaseClock } from './lease-clock.ts';

export interface ReplicaOptions {
  readonly store: Pick<TurnStore, 'register' | 'beat' | 'reap' | 'retire'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly report: StoreHealth['report'];
  readonly version: string;
  readonly leaseMs: number;
  readonly signals: RunSignals;
  readonly newId: () => string;
  /** Called after each renewal. */
  readonly onBeat: (beat: Beat) => Promise<void>;
  /** Resolves when no run of a lost identity is left. */
  readonly runsEnded: () => Promise<void>;
}

/** One life of the process as a replica. */
export interface Identity {
  readonly id: string;
  /** Whether the replica may send requests and claim turns. Ends the runs when it may not any more. */
  isValid(): boolean;
  /** The signals for one run. */
  signals(): RunSignals;
  /** Whether every other replica knows of this one, so that each uses only its share of a limit. */
  isKnown(): boolean;
  /** Whether no replica that is alive registered before this one. */
  isFirst(): boolean;
  /** The database's clock, epoch milliseconds. */
  nowMs(): number;
}

export interface Replica {
  start(): void;
  /** null while the process is not registered. */
  identity(): Identity | null;
  /** Renews the lease now: a new replica waits for it. */
  beatNow(): void;
  /** When the lease was last checked, for the watchdog. */
  checkedMs(): number;
  /** Why the process has no lease any more; null when it has one, or has not registered yet. */
  problem(): string | null;
  /** Removes the replica. No run may be left. */
  stop(): Promise<void>;
}

interface Life extends Identity {
  readonly lease: LeaseClock;
  isLost: boolean;
  readonly abort: () => void;
  beat: Beat;
  /** When the present series of renewals without a gap began, by the steady clock. */
  steadySinceMs: number;
  renewedMs: number;
}

/** How soon to try again while the database is not available. */
const RETRY_MS = 500;
const STOP_MS = 2000;
/** The longest time between two checks of the lease. */
const CHECK_MS = 1000;

const LOST =
  'the lease of this replica has ended; it registers again when its runs have ended and the database is available';

export function createReplica(options: ReplicaOptions): Replica {
  const { store, clock, log, report, leaseMs, signals } = options;
  const stopped = new AbortController();
  let wake = new AbortController();
  let life: Life | null = null;
  let checkedMs = clock.nowMs();
  let loop: Promise<unknown> | null = null;

  function lose(lost: Life, reason: string): void {
    if (lost.isLost) return;
    lost.isLost = true;
    lost.abort();
    log.warn(
      { event: 'replica_lost', replica: lost.id, reason },
      'other replicas run the accounts of this one from now on; its runs are aborted',
    );
    wake.abort();
  }

  function begin(id: string, lease: LeaseClock, beat: Beat): Life {
    const stop = new AbortController();
    const kill = new AbortController();
    setMaxListeners(0, stop.signal, kill.signal);
    const follow = (signal: AbortSignal, controller: AbortController): void => {
      if (signal.aborted) controller.abort();
      // The listener is removed when the lease is lost.
      signal.addEventListener('abort', () => controller.abort(), { signal: controller.signal });
    };
    follow(signals.stop, stop);
    follow(signals.kill, kill);
    const begun: Life = {
      id,
      lease,
      beat,
      isLost: false,
      abort() {
        stop.abort();
        kill.abort();
      },
      steadySinceMs: clock.steadyMs(),
      renewedMs: clock.steadyMs(),
      isValid() {
        if (!lease.isValid()) lose(begun, 'the lease was not renewed in time');
        return !begun.isLost;
      },
      signals: () => ({ stop: stop.signal, kill: kill.signal, check: () => void begun.isValid() }),
      isKnown: () => begun.beat.isKnown,
      isFirst: () => begun.beat.isFirst,
      nowMs: () => begun.beat.nowMs + clock.steadyMs() - begun.renewedMs,
    };
    return begun;
  }

  /** Rejects when the database does not answer in time. */
  async function inTime<T>(work: Promise<T>): Promise<T> {
    const answered = new AbortController();
    const late = clock.sleep(leaseMs / 4, answered.signal).then(() => {
      throw new StoreError('store_unavailable', 'the database does not answer');
    });
    try {
      return await Promise.race([work, late]);
    } finally {
      late.catch(() => undefined);
      answered.abort();
    }
  }

  async function register(): Promise<void> {
    const lease = createLeaseClock(clock, leaseMs);
    const sent = lease.now();
    const id = options.newId();
    const beat = await inTime(store.register(id, options.version, leaseMs));
    lease.renewed(sent);
    life = begin(id, lease, beat);
    log.info(
      { event: 'replica_registered', replica: id, replicas: beat.replicas },
      'registered as a replica',
    );
    await inTime(options.onBeat(beat));
  }

  async function renew(current: Life): Promise<void> {
    const sent = current.lease.now();
    const beat = await inTime(store.beat(current.id, leaseMs));
    if (beat === null) return lose(current, 'another replica declared it dead');
    current.lease.renewed(sent);
    // After an outage of the database, the other replicas get the time to renew their leases.
    if (sent.steadyMs - current.renewedMs > leaseMs / 2) current.steadySinceMs = sent.steadyMs;
    current.beat = beat;
    current.renewedMs = clock.steadyMs();
    await inTime(options.onBeat(beat));
    if (current.renewedMs - current.steadySinceMs < leaseMs) return;
    const freed = await inTime(store.reap());
    if (freed.length > 0)
      log.warn(
        { event: 'turns_freed', accounts: freed.slice(0, 20), count: freed.length },
        'a replica did not renew its lease; its accounts run on others',
      );
  }

  async function step(): Promise<number> {
    const current = life;
    const beganMs = clock.steadyMs();
    try {
      if (current === null) await register();
      else if (current.isValid()) await renew(current);
      else {
        await options.runsEnded();
        await inTime(store.retire(current.id));
        life = null;
        return 0;
      }
      report('lease', null);
      const everyMs = life?.beat.isKnown === true ? leaseMs / 4 : Math.min(RETRY_MS, leaseMs / 4);
      return Math.max(0, everyMs - (clock.steadyMs() - beganMs));
    } catch (error) {
      report('lease', error);
      return Math.min(RETRY_MS, leaseMs / 8);
    }
  }

  async function keepAlive(): Promise<void> {
    while (!stopped.signal.aborted) {
      wake = new AbortController();
      const waitMs = await step();
      if (!stopped.signal.aborted) await clock.sleep(waitMs, wake.signal);
    }
  }

  /** Ends the runs of a lost lease in time, also while a request to the database hangs. */
  async function watch(): Promise<void> {
    while (!stopped.signal.aborted) {
      checkedMs = clock.nowMs();
      life?.isValid();
      await clock.sleep(Math.min(CHECK_MS, leaseMs / 8), stopped.signal);
    }
  }

  return {
    start: () => void (loop ??= Promise.all([keepAlive(), watch()])),
    identity: () => life,
    beatNow: () => wake.abort(),
    checkedMs: () => checkedMs,
    problem: () => (life?.isLost === true ? LOST : null),
    async stop() {
      stopped.abort();
      wake.abort();
      await loop;
      if (life === null) return;
      const ended = new AbortController();
      const retired = store
        .retire(life.id)
        .catch(() => undefined)
        .finally(() => ended.abort());
      await Promise.race([retired, clock.sleep(STOP_MS, ended.signal)]);
    },
  };
}
