// The table of runs on a page: what each run did, with a link to its page.
import type { RunRecord } from '../../../core/journal.ts';
import { visible } from '../../../report/escape-invisible.ts';
import { duration, elapsedMs } from '../../../report/formatting.ts';
import { Instant } from '../../../report/html.tsx';
import { triggerText } from '../../../report/run-report.ts';
import { statusTone } from '../../../report/run-status.ts';
import { AccountLink, ColumnHeads, RelativeInstant } from './page-parts.tsx';

/** The status of a run, coloured. */
export function StatusBadge({ status }: { readonly status: RunRecord['status'] }) {
  return <span class={`badge ${statusTone(status)}`}>{visible(status)}</span>;
}

/** A count in a colour; a zero is quiet. */
export function Count({ of, tone }: { readonly of: number; readonly tone: 'good' | 'warn' | 'bad' }) {
  return <span class={of === 0 ? 'quiet' : tone}>{String(of)}</span>;
}

interface RunTableProps {
  readonly runs: readonly RunRecord[];
  /** Shows also how long ago each run started. */
  readonly nowMs?: number;
  /** Whether the runs are those of several accounts, so that each row names its account. */
  readonly hasAccounts?: boolean;
}

const COUNTS = [
  { head: 'Created', key: 'created', planned: 'plannedCreates', tone: 'good' },
  { head: 'Deleted', key: 'deleted', planned: 'plannedDeletes', tone: 'bad' },
  { head: 'Held', key: 'held', planned: null, tone: 'warn' },
  { head: 'Failed', key: 'failed', planned: null, tone: 'bad' },
] as const;

/** The runs, in the given order. */
export function RunTable({ runs, nowMs, hasAccounts = false }: RunTableProps) {
  const hasErrors = runs.some(({ errorCode }) => errorCode !== null);
  return (
    <table class={`cards runs ${hasAccounts ? 'several' : ''}`}>
      <ColumnHeads
        texts={[
          'Started (UTC)',
          ...(hasAccounts ? ['Account'] : []),
          'Status',
          ...(hasErrors ? ['Error'] : []),
          'Trigger',
        ]}
        numbers={[...COUNTS.map(({ head }) => head), 'Duration']}
      />
      <tbody>
        {runs.map((run) => (
          <tr>
            <th scope="row">
              <a href={`/runs/${run.id}`}>
                <Instant at={run.startedAt} brief />
              </a>
              {nowMs === undefined ? null : (
                <span class="ago quiet">
                  {' '}
                  <RelativeInstant at={run.startedAt} nowMs={nowMs} />
                </span>
              )}
            </th>
            {hasAccounts ? (
              <td class="name" data-head="Account">
                <AccountLink name={run.account} />
              </td>
            ) : null}
            <td data-head="Status">
              <StatusBadge status={run.status} />
            </td>
            {hasErrors ? (
              <td class="name" data-head="Error">
                {run.errorCode === null ? null : <code>{visible(run.errorCode)}</code>}
              </td>
            ) : null}
            <td data-head="Trigger">{visible(`${triggerText(run)}, ${run.mode}`)}</td>
            {COUNTS.map(({ head, key, planned, tone }) => (
              <td class="number" data-head={head}>
                {run.status === 'planned' && planned !== null && run[key] === 0 ? (
                  <PlannedCount of={run[planned]} />
                ) : (
                  <RunCount run={run} of={run[key]} tone={tone} />
                )}
              </td>
            ))}
            <td class="number" data-head="Duration">
              {duration(elapsedMs(run.startedAt, run.finishedAt))}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** A run that only planned has done nothing; what it would do is more useful than a zero. */
function PlannedCount({ of }: { readonly of: number | null }) {
  return <span class="quiet">{of === null ? '–' : of === 0 ? '0' : `${of} planned`}</span>;
}

interface RunCountProps {
  readonly run: RunRecord;
  readonly of: number;
  readonly tone: 'good' | 'warn' | 'bad';
}

/** A run in progress has no zeros: what is not there yet may still come. */
function RunCount({ run, of, tone }: RunCountProps) {
  return run.status === 'running' && of === 0 ? <span class="quiet">–</span> : <Count of={of} tone={tone} />;
}
