// Checks the store for damage when the daemon starts. Nothing is written to the service before the journal is known to be
// intact: entries that it lost would be judged as if rolecall had never seen them.
import { setTimeout as sleep } from 'node:timers/promises';
import { StoreError } from '../core/errors.ts';
import type { Log } from './log.ts';

export interface StoreCheck {
  /** Whether the check ends within that time. Throws StoreError when it found damage. */
  endsWithin(ms: number): Promise<boolean>;
}

/** Starts the check, and logs its result. A check that cannot be made delays nothing. */
export function startStoreCheck(
  verify: (signal: AbortSignal) => Promise<void>,
  stop: AbortSignal,
  log: Log,
): StoreCheck {
  const startedAt = performance.now();
  const check = verify(stop).then(
    () => {
      const durationMs = Math.round(performance.now() - startedAt);
      log.info({ event: 'store_checked', durationMs }, 'the store is intact');
    },
    (error: unknown) => {
      if (stop.aborted) return;
      const isDamaged = error instanceof StoreError && error.code === 'store_corrupt';
      const reason = error instanceof Error ? error.message : String(error);
      if (!isDamaged) log.warn({ event: 'store_unchecked', reason }, 'the store could not be checked');
      else log.error({ event: 'store_damaged', reason }, 'the store is damaged; nothing more is written');
      if (isDamaged) throw error;
    },
  );
  // Logged above. From then on the store refuses every call, so nobody has to wait for the rejection.
  check.catch(() => undefined);
  return {
    async endsWithin(ms) {
      const waiting = new AbortController();
      const timeout = sleep(ms, false, { signal: waiting.signal }).catch(() => false);
      return await Promise.race([check.then(() => true), timeout]).finally(() => waiting.abort());
    },
  };
}
