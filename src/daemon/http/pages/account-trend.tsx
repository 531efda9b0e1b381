// The charts of an account: its entries, its drift, the people affected and the duration of its runs, with their numbers.
import type { TrendPoint } from '../../../core/journal-reader.ts';
import { duration, elapsedMs } from '../../../report/formatting.ts';
import { Instant } from '../../../report/html.tsx';
import { ColumnHeads } from './column-heads.tsx';
import { type Chart, LineChart } from './line-chart.tsx';
import { StatusBadge } from './run-table.tsx';

/** `points`: oldest first. One run is no trend, so nothing is shown for it. */
export function AccountTrend({ points }: { readonly points: readonly TrendPoint[] }) {
  if (points.length < 2) return null;
  return (
    <section>
      <h2>The last {points.length} runs</h2>
      <p class="quiet">
        From <Instant at={points[0]?.startedAt ?? ''} /> to <Instant at={points.at(-1)?.startedAt ?? ''} />.
      </p>
      <div class="charts">
        {chartsOf(points).map((chart, index) => (
          <LineChart chart={chart} id={`chart-${index + 1}`} />
        ))}
      </div>
      <details>
        <summary>The numbers of these charts</summary>
        <TrendTable points={points} />
      </details>
    </section>
  );
}

function chartsOf(points: readonly TrendPoint[]): Chart[] {
  const timesMs = points.map(({ startedAt }) => Date.parse(startedAt));
  const series = (label: string, read: (point: TrendPoint) => number | null) => ({
    label,
    values: points.map(read),
  });
  const counts = { timesMs, fromZero: true, format: (value: number) => String(value) };
  return [
    {
      ...counts,
      title: 'Entries',
      fromZero: false,
      series: [series('skills', ({ skills }) => skills), series('roles', ({ roles }) => roles)],
    },
    {
      ...counts,
      title: 'Drift found',
      series: [
        series('to create', ({ toCreate }) => toCreate),
        series('to delete', ({ toDelete }) => toDelete),
        series('held', ({ held }) => held),
      ],
    },
    {
      ...counts,
      title: 'People affected by deletes',
      series: [series('people', ({ affected }) => affected)],
    },
    { ...counts, title: 'Duration', format: duration, series: [series('run', tookMs)] },
  ];
}

function tookMs({ startedAt, finishedAt }: TrendPoint): number | null {
  return elapsedMs(startedAt, finishedAt);
}

const COLUMNS: readonly (readonly [string, (point: TrendPoint) => number | null])[] = [
  ['Skills', ({ skills }) => skills],
  ['Roles', ({ roles }) => roles],
  ['To create', ({ toCreate }) => toCreate],
  ['To delete', ({ toDelete }) => toDelete],
  ['Held', ({ held }) => held],
  ['People affected', ({ affected }) => affected],
];

/** Newest first, as in other tables of runs. */
function TrendTable({ points }: { readonly points: readonly TrendPoint[] }) {
  return (
    <table class="cards trend">
      <ColumnHeads
        texts={['Started (UTC)', 'Status']}
        numbers={[...COLUMNS.map(([head]) => head), 'Duration']}
      />
      <tbody>
        {points.toReversed().map((point) => (
          <tr>
            <th scope="row">
              <a href={`/runs/${point.runId}`}>
                <Instant at={point.startedAt} brief />
              </a>
            </th>
            <td data-head="Status">
              <StatusBadge status={point.status} />
            </td>
            {COLUMNS.map(([head, read]) => (
              <td class="number" data-head={head}>
                {read(point) ?? '–'}
              </td>
            ))}
            <td class="number" data-head="Duration">
              {duration(tookMs(point))}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
