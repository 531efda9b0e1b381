// Work that the daemon repeats while it runs.
import type { Log } from './log.ts';

/**
 * Starts `work` each time after `intervalMs`, unless it still runs. `work` never rejects. Returns the function that stops
 * this and resolves when `work` does not run.
 */
export function repeat(intervalMs: number, work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null;
  const timer = setInterval(() => {
    running ??= work().finally(() => (running = null));
  }, intervalMs);
  return async () => {
    clearInterval(timer);
    await running;
  };
}

/** Deletes old runs and snapshots, unless another process has just done it. A failure is logged, and the next call tries again. */
export async function pruneStore(prune: () => Promise<void>, log: Log): Promise<void> {
  try {
    await prune();
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'unknown';
    log.warn({ event: 'prune_failed', reason }, 'old runs could not be pruned');
  }
}
