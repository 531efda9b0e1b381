// The chart of an account, as inline SVG: what each run found different. Colours come from the stylesheet, and each line
// also has its own dashes.
import type { RunRecord } from '../../../core/journal.ts';
import { Instant } from '../../../report/html.tsx';

export interface ChartSeries {
  readonly label: string;
  /** One for each time; null where the number is not known. */
  readonly values: readonly (number | null)[];
}

export interface Chart {
  readonly title: string;
  /** Epoch milliseconds, in ascending order. */
  readonly timesMs: readonly number[];
  /** At most three. */
  readonly series: readonly ChartSeries[];
}

const WIDTH = 320;
const HEIGHT = 110;
const EDGE = 8;
/** The space for the numbers of the scale. */
const LEFT = 60;

interface Scale {
  readonly x: (ms: number) => number;
  readonly y: (value: number) => number;
  readonly low: number;
  readonly high: number;
}

/** `runs`: newest first. One run is no trend, so nothing is shown for it. */
export function DriftChart({ runs }: { readonly runs: readonly RunRecord[] }) {
  if (runs.length < 2) return null;
  const points = runs.toReversed();
  const series = (label: string, read: (run: RunRecord) => number | null) => ({
    label,
    values: points.map(read),
  });
  const chart = {
    title: 'Drift found',
    timesMs: points.map(({ startedAt }) => Date.parse(startedAt)),
    series: [
      series('to create', ({ plannedCreates }) => plannedCreates),
      series('to delete', ({ plannedDeletes }) => plannedDeletes),
      // A run that works, or that ended before it planned, has not found out what is held.
      series('held', ({ status, planDigest, held }) =>
        status === 'running' || planDigest === null ? null : held,
      ),
    ],
  };
  return (
    <section>
      <h2>The last {runs.length} runs</h2>
      <p class="quiet">
        From <Instant at={points[0]?.startedAt ?? ''} /> to <Instant at={points.at(-1)?.startedAt ?? ''} />.
      </p>
      <LineChart chart={chart} id="chart" />
    </section>
  );
}

/** A chart without a known number is left out. A number holds until the next one, so the lines are steps. */
export function LineChart({ chart, id }: { readonly chart: Chart; readonly id: string }) {
  const { title, timesMs, series } = chart;
  const scale = scaleOf(chart);
  if (scale === null) return null;
  return (
    <figure class="chart">
      <figcaption>{title}</figcaption>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        role="img"
        aria-labelledby={`${id}-title`}
        aria-describedby={`${id}-text`}
      >
        <title id={`${id}-title`}>{title}</title>
        <desc id={`${id}-text`}>{descriptionOf(chart)}</desc>
        <path class="axis" d={`M${LEFT} ${HEIGHT - EDGE}H${WIDTH}M${LEFT} ${EDGE}H${WIDTH}`} />
        <text x={LEFT - 6} y={HEIGHT - EDGE + 4} text-anchor="end">
          {scale.low}
        </text>
        {scale.low === scale.high ? null : (
          <text x={LEFT - 6} y={EDGE + 4} text-anchor="end">
            {scale.high}
          </text>
        )}
        {series.map(({ values }, index) => (
          <path class={`line line-${index + 1}`} d={stepsOf(timesMs, values, scale)} />
        ))}
        {series.map(({ values }, index) => (
          <path class={`dot line-${index + 1}`} d={lastDotOf(timesMs, values, scale)} />
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
  );
}

/** The chart in a sentence, for those who cannot see it. */
export function descriptionOf({ series }: Chart): string {
  return series
    .map(({ label, values }) => {
      const known = values.filter((value) => value !== null);
      if (known.length === 0) return `${label}: not known.`;
      return `${label}: ${latest(values)} in the last run, between ${Math.min(...known)} and ${Math.max(...known)} in ${known.length} runs.`;
    })
    .join(' ');
}

/** null when no number is known. */
export function scaleOf({ timesMs, series }: Chart): Scale | null {
  const known = series.flatMap(({ values }) => values.filter((value) => value !== null));
  if (known.length === 0) return null;
  const high = Math.max(...known);
  const low = Math.min(0, ...known);
  const begin = timesMs[0] ?? 0;
  const span = (timesMs.at(-1) ?? 0) - begin;
  const range = high - low;
  const inner = HEIGHT - 2 * EDGE;
  return {
    low,
    high,
    // A single moment is drawn at the end, and equal numbers are drawn at the bottom.
    x: (ms) => (span === 0 ? WIDTH - EDGE : LEFT + ((ms - begin) / span) * (WIDTH - LEFT - EDGE)),
    y: (value) => HEIGHT - EDGE - (range === 0 ? 0 : (value - low) / range) * inner,
  };
}

/** The path of a line. It is interrupted where a number is not known. */
export function stepsOf(timesMs: readonly number[], values: ChartSeries['values'], scale: Scale): string {
  let isDrawing = false;
  return values
    .map((value, index) => {
      const x = place(scale.x(timesMs[index] ?? 0));
      if (value === null) {
        const end = isDrawing ? `H${x}` : '';
        isDrawing = false;
        return end;
      }
      const y = place(scale.y(value));
      const part = isDrawing ? `H${x}V${y}` : `M${x} ${y}`;
      isDrawing = true;
      return part;
    })
    .join('');
}

/** The dot at the end of a line. Without a number at the end there is none: in the middle it would look like the end. */
function lastDotOf(timesMs: readonly number[], values: ChartSeries['values'], scale: Scale): string {
  const value = values.at(-1) ?? null;
  return value === null ? '' : `M${place(scale.x(timesMs.at(-1) ?? 0))} ${place(scale.y(value))}h0`;
}

function latest(values: ChartSeries['values']): string {
  return String(values.findLast((each) => each !== null) ?? '–');
}

function place(coordinate: number): string {
  return String(Math.round(coordinate * 10) / 10);
}
