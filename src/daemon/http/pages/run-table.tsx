// Runs as pages list them: what each did, and the way to the whole of it.
import type { RunRecord } from '../../../core/journal.ts';
import { statusTone } from '../../../report/run-status.ts';
import { duration, elapsedMs } from '../../../report/formatting.ts';
import { Instant } from './instant.tsx';

/** The status of a run as a word that is also coloured. */
export function StatusBadge({ status }: { readonly status: RunRecord['status'] }) {
  return <span class={`badge ${statusTone(status)}`}>{status}</span>;
}

/** A count that is quiet where there is nothing to see. */
export function Count({ of, tone }: { readonly of: number; readonly tone: 'good' | 'warn' | 'bad' }) {
  return <span class={of === 0 ? 'quiet' : tone}>{String(of)}</span>;
}

/** The runs of one account, in the order given. */
export function RunTable({ runs }: { readonly runs: readonly RunRecord[] }) {
  return (
    <table class="cards">
      <thead>
        <tr>
          <th scope="col">Started (UTC)</th>
          <th scope="col">Status</th>
          <th scope="col">Asked by</th>
          {['Created', 'Deleted', 'Held', 'Failed', 'Took'].map((head) => (
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
            <td data-head="Asked by">
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
            <td class="number" data-head="Took">
              {duration(elapsedMs(run.startedAt, run.finishedAt))}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
