// The chart of an account, as inline SVG: what each of its last runs found different. Colours come from the stylesheet, and
// each line also has its own dashes.
import type { RunRecord } from '../../../core/journal.ts';
import { Instant } from '../../../report/html.tsx';

interface Series {
  readonly label: string;
  /** Of each run, oldest first; null where the number is not known. */
  readonly values: readonly (number | null)[];
}

const WIDTH = 320;
const HEIGHT = 110;
const EDGE = 8;
/** The space for the numbers of the scale. */
const LEFT = 60;

/** `runs`: newest first. One run is no trend, so nothing is shown for it. A number holds until the next one. */
export function DriftChart({ runs }: { readonly runs: readonly RunRecord[] }) {
  const points = runs.toReversed();
  const series = seriesOf(points);
  const high = Math.max(...series.flatMap(({ values }) => values.map((value) => value ?? -1)));
  if (runs.length < 2 || high < 0) return null;
  const lines = series.map(({ values }) => pathOf(points, values, high));
  const axis = HEIGHT - EDGE;
  return (
    <section>
      <h2>The last {runs.length} runs</h2>
      <p class="quiet">
        From <Instant at={points[0]?.startedAt ?? ''} /> to <Instant at={points.at(-1)?.startedAt ?? ''} />.
      </p>
      <figure class="chart">
        <figcaption>Drift found</figcaption>
        <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={series.map(sentenceOf).join(' ')}>
          <path class="axis" d={`M${LEFT} ${axis}H${WIDTH}M${LEFT} ${EDGE}H${WIDTH}`} />
          <text x={LEFT - 6} y={axis + 4} text-anchor="end">
            0
          </text>
          <text x={LEFT - 6} y={EDGE + 4} text-anchor="end">
            {high === 0 ? '' : high}
          </text>
          {lines.map((path, index) => (
            <path class={`line line-${index + 1}`} d={path} />
          ))}
        </svg>
        <ul class="legend">
          {series.map(({ label, values }, index) => (
            <li>
              <svg viewBox="0 0 24 8" aria-hidden="true">
                <path class={`line line-${index + 1}`} d="M0 4H24" />
              </svg>
              {label} <strong>{latest(values)}</strong>
            </li>
          ))}
        </ul>
      </figure>
    </section>
  );
}

function seriesOf(runs: readonly RunRecord[]): readonly Series[] {
  return [
    { label: 'to create', values: runs.map(({ plannedCreates }) => plannedCreates) },
    { label: 'to delete', values: runs.map(({ plannedDeletes }) => plannedDeletes) },
    // A run that works, or that ended before it planned, has not found out what is held.
    {
      label: 'held',
      values: runs.map(({ status, planDigest, held }) =>
        status === 'running' || planDigest === null ? null : held,
      ),
    },
  ];
}

/** The path of a line in steps. It is interrupted where a number is not known. */
function pathOf(runs: readonly RunRecord[], values: Series['values'], high: number): string {
  const times = runs.map(({ startedAt }) => Date.parse(startedAt));
  const begin = times[0] ?? 0;
  const span = Math.max(1, (times.at(-1) ?? 0) - begin);
  let isDrawing = false;
  return values
    .map((value, index) => {
      const x = Math.round(LEFT + (((times[index] ?? 0) - begin) / span) * (WIDTH - LEFT - EDGE));
      const wasDrawing = isDrawing;
      isDrawing = value !== null;
      if (value === null) return wasDrawing ? `H${x}` : '';
      const y = Math.round(HEIGHT - EDGE - (high === 0 ? 0 : value / high) * (HEIGHT - 2 * EDGE));
      return wasDrawing ? `H${x}V${y}` : `M${x} ${y}`;
    })
    .join('');
}

/** The line in a sentence, for those who cannot see it. */
function sentenceOf({ label, values }: Series): string {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return `${label}: not known.`;
  return `${label}: ${latest(values)} in the last run, between ${Math.min(...known)} and ${Math.max(...known)} in ${known.length} runs.`;
}

function latest(values: Series['values']): string {
  return String(values.findLast((value) => value !== null) ?? '–');
}
