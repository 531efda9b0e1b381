// The place of a page that follows a run: it shows the progress now, and the script of the page replaces it with each event.
import type { RunProgress } from '../../../core/journal-reader.ts';
import { ProgressBar } from './progress-bar.tsx';

interface LiveProgressProps {
  readonly runId: string;
  readonly progress: RunProgress;
  readonly nowMs: number;
}

/** How often a browser without scripts requests a page again that shows a run at work. */
export const RELOAD_AFTER_S = 5;

/** The script of the page loads it again after a moment, until the run has started. */
export function QueuedRun() {
  return (
    <p class="progress" data-reload="">
      A run is queued. It starts as soon as a place is free.
    </p>
  );
}

export function LiveProgress({ runId, progress, nowMs }: LiveProgressProps) {
  return (
    <div class="progress" data-events={`/runs/${runId}/events`}>
      <ProgressBar progress={progress} nowMs={nowMs} />
    </div>
  );
}
