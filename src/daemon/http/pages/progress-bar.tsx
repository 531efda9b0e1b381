// The progress of a run that works: a bar, the rate and the time left. The script of the page replaces it while it changes.
import type { RunProgress } from '../../../core/ports/journal-reader.ts';
import { count, duration } from '../../../report/formatting.ts';

interface ProgressBarProps {
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

export function LiveProgress({ runId, ...props }: ProgressBarProps & { readonly runId: string }) {
  return (
    <div class="progress" data-progress={`/runs/${runId}/progress`}>
      <ProgressBar {...props} />
    </div>
  );
}

/** A rate from fewer results or from less time changes too much to be of use. */
const MIN_RESULTS = 5;
const MIN_MS = 2000;

export function ProgressBar({ progress, nowMs }: ProgressBarProps) {
  const { total, done, failed } = progress;
  if (total === 0) return <p>Reading the account and planning. Nothing has been written yet.</p>;
  return (
    <>
      <p>
        <strong>
          {done} of {count(total, 'operation')} done
        </strong>
        {failed === 0 ? null : (
          <>
            {', '}
            <span class="bad">{failed} failed</span>
          </>
        )}
        {openText(progress)}
        {paceText(progress, nowMs)}
      </p>
      <progress max={total} value={done + failed} aria-label="Operations with a result">
        {Math.floor((100 * (done + failed)) / total)} %
      </progress>
    </>
  );
}

function openText({ sent, unknown }: RunProgress): string {
  const parts = [
    ...(sent > 0 ? [`, ${sent} waiting for an answer`] : []),
    ...(unknown > 0 ? [`, ${unknown} unknown`] : []),
  ];
  return parts.join('');
}

/** ` · 8.4 per second · about 2 min 5 s left`; empty while it cannot be known. */
function paceText({ total, done, failed, firstSentAt }: RunProgress, nowMs: number): string {
  const results = done + failed;
  const ms = firstSentAt === null ? 0 : nowMs - Date.parse(firstSentAt);
  if (results < MIN_RESULTS || ms < MIN_MS) return '';
  const rate = results / (ms / 1000);
  const left = total - results;
  const time = left === 0 ? '' : ` · about ${timeLeft(left / rate)} left`;
  return ` · ${rate < 10 ? rate.toFixed(1) : Math.round(rate)} per second${time}`;
}

/** Whole seconds: the tenths of an estimate mean nothing. */
function timeLeft(seconds: number): string {
  return seconds < 59 ? `${Math.ceil(seconds)} s` : duration(seconds * 1000);
}
