// The table of runs on a page: what each run did, with a link to its page.
import type { RunRecord } from '../../../core/journal.ts';
import { statusTone } from '../../../report/run-status.ts';
import { Instant } from '../../../report/html.tsx';
import { duration, elapsedMs } from '../../../report/formatting.ts';

/** The status of a run, coloured. */
export function StatusBadge({ status }: { readonly status: RunRecord['status'] }) {
  return <span class={`badge ${statusTone(status)}`}>{status}</span>;
}

/** A count in a colour; a zero is quiet. */
export function Count({ of, tone }: { readonly of: number; readonly tone: 'good' | 'warn' | 'bad' }) {
  return <span class={of === 0 ? 'quiet' : tone}>{String(of)}</span>;
}

/** The runs of one account, in the given order. */
export function RunTable({ runs }: { readonly runs: readonly RunRecord[] }) {
  return (
    <table class="cards">
      <thead>
        <tr>
          <th scope="col">Started (UTC)</th>
          <th scope="col">Status</th>
          <th scope="col">Trigger</th>
          {['Created', 'Deleted', 'Held', 'Failed', 'Duration'].map((head) => (
            <th scope="col" class="number">
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {runs.map((run) => (
          <tr>
            <th scope="row">
              <a href={`/runs/${run.id}`}>
                <Instant at={run.startedAt} brief />
              </a>
            </th>
            <td data-head="Status">
              <StatusBadge status={run.status} />
            </td>
            <td data-head="Trigger">
              {run.trigger}, {run.mode}
            </td>
            <td class="number" data-head="Created">
              <Count of={run.created} tone="good" />
            </td>
            <td class="number" data-head="Deleted">
              <Count of={run.deleted} tone="bad" />
            </td>
            <td class="number" data-head="Held">
              <Count of={run.held} tone="warn" />
            </td>
            <td class="number" data-head="Failed">
              <Count of={run.failed} tone="bad" />
            </td>
            <td class="number" data-head="Duration">
              {duration(elapsedMs(run.startedAt, run.finishedAt))}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
