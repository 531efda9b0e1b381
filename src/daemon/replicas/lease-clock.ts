// Whether this replica may still send requests. Both clocks count: the steady one stops while the machine sleeps,
// and the wall clock can be set back.
import type { Clock } from '../../core/ports.ts';

export interface Moment {
  readonly steadyMs: number;
  readonly wallMs: number;
}

export interface LeaseClock {
  now(): Moment;
  /** The lease was renewed by a request that was sent at this moment. */
  renewed(sent: Moment): void;
  /** Whether no other process can have declared this replica dead. */
  isValid(): boolean;
}

export function createLeaseClock(clock: Clock, leaseMs: number): LeaseClock {
  let renewed: Moment | null = null;
  const now = (): Moment => ({ steadyMs: clock.steadyMs(), wallMs: clock.nowMs() });
  return {
    now,
    renewed(sent) {
      renewed = sent;
    },
    isValid() {
      if (renewed === null) return false;
      const { steadyMs, wallMs } = now();
      return steadyMs - renewed.steadyMs < leaseMs && wallMs - renewed.wallMs < leaseMs;
    },
  };
}
