// The last runs of an account as small bars, the newest at the right: the taller a bar, the worse the result.
import type { RunStatus } from '../../../core/journal.ts';
import type { RunMark } from '../../../core/ports/journal-reader.ts';
import { visible } from '../../../report/escape-invisible.ts';
import { instant } from '../../../report/formatting.ts';
import { statusTone } from '../../../report/run-status.ts';

/** The most runs that a strip shows. */
export const STRIP_RUNS = 20;

const STEP = 7;
const HEIGHT = 20;
/** The groups of equal results that the text alternative names. */
const MAX_GROUPS = 6;

/** The shapes, drawn downwards from the top of a bar, so that the results can be distinguished without colours. */
const SHORT = 'M0 13h5v7h-5z';
const SHAPES: Readonly<Record<RunStatus, string>> = {
  converged: SHORT,
  planned: 'M0 13h5v7h-5zm1.5 1.5v4h2v-4z',
  running: 'M0 18h5v2h-5z',
  held: 'M0 7h5v13h-5z',
  // An exclamation mark.
  partial: 'M0 0h5v12h-5zM0 15h5v5h-5z',
  blocked: 'M0 0h5v12h-5zM0 15h5v5h-5z',
  failed: 'M0 0h5v12h-5zM0 15h5v5h-5z',
  interrupted: 'M0 0h5v12h-5zM0 15h5v5h-5z',
};

/** `runs` are the latest ones of one account, newest first. */
export function RunStrip({ runs }: { readonly runs: readonly RunMark[] }) {
  if (runs.length === 0) return null;
  const shown = runs.slice(0, STRIP_RUNS);
  const width = shown.length * STEP;
  return (
    <svg
      class="strip"
      role="img"
      aria-label={textOf(runs)}
      viewBox={`0 0 ${width} ${HEIGHT}`}
      width={width}
      height={HEIGHT}
    >
      {shown.map((run, index) => (
        <path
          class={statusTone(run.status)}
          // Only `M` and `m` are absolute or relative to the start, so a translation is enough.
          transform={`translate(${width - (index + 1) * STEP + 1})`}
          d={Object.hasOwn(SHAPES, run.status) ? SHAPES[run.status] : SHAPES.held}
        >
          <title>{titleOf(run)}</title>
        </path>
      ))}
    </svg>
  );
}

function titleOf({ status, startedAt }: RunMark): string {
  return visible(`${status}, ${instant(startedAt)}`);
}

/** `Last runs, newest first: 2 failed, 18 converged`. */
function textOf(runs: readonly RunMark[]): string {
  const groups: { readonly status: string; amount: number }[] = [];
  for (const { status } of runs) {
    const last = groups.at(-1);
    if (last?.status === status) last.amount += 1;
    else groups.push({ status, amount: 1 });
  }
  const rest = groups.slice(MAX_GROUPS).reduce((sum, { amount }) => sum + amount, 0);
  const parts = groups.slice(0, MAX_GROUPS).map(({ status, amount }) => `${amount} ${status}`);
  if (rest > 0) parts.push(`${rest} earlier`);
  return visible(`Last runs, newest first: ${parts.join(', ')}`);
}
