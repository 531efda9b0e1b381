// Reads the progress of runs for everybody who watches them, at most once in a while for each run.
import type { RunProgress } from '../../core/journal-reader.ts';

export type ReadProgress = (runId: string) => Promise<RunProgress | null>;

/** Reads a run again only after `everyMs`; until then all who ask receive the same answer. */
export function createProgressReader(
  read: ReadProgress,
  everyMs: number,
  steadyMs: () => number,
): ReadProgress {
  const recent = new Map<string, { readonly atMs: number; readonly progress: Promise<RunProgress | null> }>();
  return (runId) => {
    const now = steadyMs();
    for (const [id, { atMs }] of recent) if (now - atMs >= everyMs) recent.delete(id);
    const progress = recent.get(runId)?.progress ?? read(runId);
    if (!recent.has(runId)) recent.set(runId, { atMs: now, progress });
    return progress;
  };
}
