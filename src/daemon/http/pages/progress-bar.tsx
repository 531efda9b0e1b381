// The progress of a run that works: a bar, the rate and the time left. The script of the page replaces it while it changes.
import { useContext } from 'hono/jsx';
import type { RunProgress } from '../../../core/ports/journal-reader.ts';
import { type Line, toned } from '../../../report/document.ts';
import { count, waitText } from '../../../report/formatting.ts';
import { Inline, PageTime } from '../../../report/html.tsx';

type Progress = { readonly progress: RunProgress };

export function LiveProgress({ runId, progress }: Progress & { readonly runId: string }) {
  return (
    <div data-progress={`/runs/${runId}/progress`}>
      <ProgressBar progress={progress} />
    </div>
  );
}

export function ProgressBar({ progress }: Progress) {
  const { total, done, failed } = progress;
  return (
    <>
      <p>
        <Inline line={progressLine(progress, useContext(PageTime) ?? 0)} />
      </p>
      {total === 0 ? null : (
        <progress max={total} value={done + failed} aria-label="Operations with a result">
          {Math.floor((100 * (done + failed)) / total)} %
        </progress>
      )}
    </>
  );
}

/** `3 of 8 operations done, 1 failed · 8.4 per second · about 2 min 5 s left`. */
export function progressLine(progress: RunProgress, nowMs: number): Line {
  const { total, done, failed, sent, unknown } = progress;
  if (total === 0) return ['Reading the account and planning. Nothing has been written yet.'];
  return [
    toned('strong', `${done} of ${count(total, 'operation')} done`),
    ...(failed > 0 ? [', ', toned('bad', `${failed} failed`)] : []),
    sent > 0 ? `, ${sent} waiting for an answer` : '',
    unknown > 0 ? `, ${unknown} unknown` : '',
    paceText(progress, nowMs),
  ];
}

/** A rate from fewer results or from less time changes too much to be of use. */
const MIN_RESULTS = 5;
const MIN_MS = 2000;

/** ` · 8.4 per second · about 2 min 5 s left`; empty while it cannot be known. */
function paceText({ total, done, failed, firstSentAt }: RunProgress, nowMs: number): string {
  const results = done + failed;
  const ms = firstSentAt === null ? 0 : nowMs - Date.parse(firstSentAt);
  if (results < MIN_RESULTS || ms < MIN_MS) return '';
  const rate = results / (ms / 1000);
  const left = total - results;
  const time = left === 0 ? '' : ` · about ${waitText((left / rate) * 1000)} left`;
  return ` · ${rate < 10 ? rate.toFixed(1) : Math.round(rate)} per second${time}`;
}
