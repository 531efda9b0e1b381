// The leases of this process: takes them, renews all of them together, and ends its runs when they could not be renewed in
// time, because another process may hold them then.
import { setMaxListeners } from 'node:events';
import type { AccountLocks, DueReason, Lease, Locks } from '../core/ports/locks.ts';
import type { Clock, RunSignals } from '../core/ports/clock.ts';
import { lockLost } from './fence.ts';

const RENEW_MS = 2000;

export interface LeaseKeeper extends AccountLocks, Pick<Locks, 'take'> {
  /**
   * The signals of a run, a new object. They also abort when the leases of this process may be those of another one: `stop`
   * with the StoreError `lock_lost` as its reason.
   */
  signals(of: RunSignals): RunSignals;
  /** Ends the renewals. No run may be left. */
  stop(): Promise<void>;
}

export interface LeaseKeeperOptions {
  readonly locks: Locks;
  readonly clock: Clock;
  /** Called with the clock of the store after each renewal, and how long that took. */
  readonly onStoreClock?: (storeMs: number, tookMs: number) => void;
}

interface Moment {
  readonly steadyMs: number;
  readonly wallMs: number;
}

export function createLeaseKeeper({ locks, clock, onStoreClock }: LeaseKeeperOptions): LeaseKeeper {
  const { leaseMs } = locks;
  const stopped = new AbortController();
  /** The runs whose leases are held. */
  const held = new Set<string>();
  /** Leases that could not be given back. */
  const kept = new Map<Pick<Lease, 'account' | 'runId'>, DueReason | null>();
  /** Before the latest renewal of all that is held was sent. */
  let renewed: Moment = now();
  let loop: Promise<void> | null = null;
  let wake = new AbortController();
  let period: (Pick<RunSignals, 'stop' | 'kill'> & { readonly of: RunSignals; abort(): void }) | null = null;

  function now(): Moment {
    return { steadyMs: clock.steadyMs(), wallMs: clock.nowMs() };
  }

  /** Both clocks count: the steady one stops while the machine sleeps, and the other one can be set back. */
  function isInTime(): boolean {
    const { steadyMs, wallMs } = now();
    return steadyMs - renewed.steadyMs < leaseMs && wallMs - renewed.wallMs < leaseMs;
  }

  function checkLease(): void {
    if (held.size === 0 || isInTime()) return;
    held.clear();
    period?.abort();
    period = null;
    wake.abort();
  }

  async function holdOnce<T>(taking: () => Promise<T>, leaseIn: (taken: T) => Lease | null): Promise<T> {
    const sent = now();
    const taken = await taking();
    const lease = leaseIn(taken);
    if (lease === null) return taken;
    // What is held already may end sooner.
    if (held.size === 0) renewed = sent;
    held.add(lease.runId);
    onStoreClock?.(lease.takenAtMs, clock.steadyMs() - sent.steadyMs);
    startRenewing();
    return taken;
  }

  function startRenewing(): void {
    loop ??= keepRenewing().finally(() => {
      loop = null;
      // Something was taken while the loop was ending.
      if (held.size > 0 && !stopped.signal.aborted) startRenewing();
    });
  }

  async function renew(): Promise<void> {
    const before = [...held];
    const sent = now();
    try {
      for (const [lease, again] of kept) {
        await locks.release(lease, again);
        kept.delete(lease);
      }
      const renewal = await locks.renew(before, clock.nowMs());
      for (const runId of before) if (!renewal.held.has(runId)) held.delete(runId);
      renewed = sent;
      if (renewal.nowMs !== null) onStoreClock?.(renewal.nowMs, clock.steadyMs() - sent.steadyMs);
    } catch {
      // The next renewal may be in time. The health of the store is reported elsewhere.
    }
    checkLease();
  }

  async function keepRenewing(): Promise<void> {
    while (held.size + kept.size > 0 && !stopped.signal.aborted) {
      wake = new AbortController();
      await clock.sleep(Math.min(RENEW_MS, leaseMs / 4), wake.signal);
      if (held.size + kept.size > 0 && !stopped.signal.aborted) await renew();
    }
  }

  function beginPeriod(of: RunSignals): NonNullable<typeof period> {
    const stop = new AbortController();
    const kill = new AbortController();
    setMaxListeners(0, stop.signal, kill.signal);
    const follow = (signal: AbortSignal, controller: AbortController): void => {
      if (signal.aborted) controller.abort();
      // The listener is removed when the period ends.
      signal.addEventListener('abort', () => controller.abort(), { signal: controller.signal });
    };
    follow(of.stop, stop);
    follow(of.kill, kill);
    const abort = (): void => {
      stop.abort(lockLost());
      kill.abort();
    };
    return { of, stop: stop.signal, kill: kill.signal, abort };
  }

  return {
    acquire: (account, runId, nowMs) =>
      holdOnce(
        () => locks.acquire(account, runId, nowMs),
        (attempt) => ('lease' in attempt ? attempt.lease : null),
      ),
    take: (due, runId, nowMs) =>
      holdOnce(
        () => locks.take(due, runId, nowMs),
        (lease) => lease,
      ),
    async release(lease, again = null) {
      held.delete(lease.runId);
      if (held.size === 0) wake.abort();
      try {
        await locks.release(lease, again);
      } catch (error) {
        // Tried again with the next renewals; it ends by itself at last, and then the account is due.
        kept.set(lease, again);
        startRenewing();
        throw error;
      }
    },
    signals(of) {
      if (period?.of.stop !== of.stop) period = beginPeriod(of);
      return { stop: period.stop, kill: period.kill, check: checkLease };
    },
    async stop() {
      stopped.abort();
      wake.abort();
      await loop;
    },
  };
}
