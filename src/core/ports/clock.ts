// The clock and the signals of a run, which are arguments so that tests control them.

declare global {
  // core/ compiles without the platform's types; there the signal is only passed through.
  interface AbortSignal {
    readonly aborted: boolean;
  }
}

/** Time as an argument, so that tests control it. */
export interface Clock {
  nowMs(): number;
  /** A clock for durations: nobody can set it, and it may stop while the machine sleeps. */
  steadyMs(): number;
  /** Resolves after `ms`, or at once when the signal aborts; never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/**
 * Signals that end a run: after `stop` no operation starts, `kill` also aborts the requests in flight. The reason of `stop` is
 * a StoreError `lock_lost` when the process could not keep its locks.
 */
export interface RunSignals {
  readonly stop: AbortSignal;
  readonly kill: AbortSignal;
  /** Aborts both when this process may not send requests any more. Called directly before each request. */
  readonly check?: () => void;
}
