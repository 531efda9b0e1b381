// The page at /runs: the runs of all accounts, newest first, filtered as `rolecall history` does.
import type { RunRecord } from '../../../core/journal.ts';
import { RUN_STATUSES } from '../../../core/journal.ts';
import type { Visitor } from '../context.ts';
import { FilterForm } from './filter-form.tsx';
import { Layout, Live } from './layout.tsx';
import { Notice } from './notice.tsx';
import { Pager } from './pager.tsx';
import { type RunListFilter, type RunListRequest, RUNS_SHOWN, runsAddress } from './run-list.ts';
import { RunTable } from './run-table.tsx';

interface RunsPageProps {
  readonly request: RunListRequest;
  /** At most one more than the page shows. */
  readonly runs: readonly RunRecord[];
  readonly nowMs: number;
  readonly visitor: Visitor | undefined;
}

const STATUS_OPTIONS = RUN_STATUSES.map((status) => [status, status] as const);

export function RunsPage({ request: { filter, problems }, runs, nowMs, visitor }: RunsPageProps) {
  const shown = runs.slice(0, RUNS_SHOWN);
  const isFiltered = filter.account !== '' || filter.status !== '' || filter.since !== '';
  return (
    <Layout title="Runs" visitor={visitor} current="runs">
      <h1>Runs</h1>
      <FilterForm
        at="/runs"
        search={{ label: 'Account', name: 'account', value: filter.account }}
        choice={{ label: 'Status', name: 'status', options: STATUS_OPTIONS, value: filter.status }}
        showAll={isFiltered ? 'Show all runs' : null}
      >
        <label>
          Not older than
          <input
            type="text"
            name="since"
            value={filter.since}
            placeholder="24h, 7d"
            size={8}
            maxlength={20}
            autocomplete="off"
          />
        </label>
      </FilterForm>
      <Notice tone="warn" title="A part of the filter is ignored." lines={problems} />
      <Live>
        {shown.length === 0 ? (
          <p>{nothing(filter, isFiltered)}</p>
        ) : (
          <RunTable runs={shown} nowMs={nowMs} hasAccounts />
        )}
        <Pages filter={filter} last={runs.length > shown.length ? shown.at(-1) : undefined} />
      </Live>
    </Layout>
  );
}

function nothing({ after }: RunListFilter, isFiltered: boolean): string {
  if (after !== '') return 'There are no older runs.';
  return isFiltered ? 'No run matches the filter.' : 'No account has run yet.';
}

/** Each page begins behind a run, so that runs that start meanwhile move no row to another page. */
function Pages({ filter, last }: { readonly filter: RunListFilter; readonly last: RunRecord | undefined }) {
  return (
    <Pager
      label="Pages of runs"
      position=""
      previous={
        filter.after === '' ? null : { href: runsAddress({ ...filter, after: '' }), text: 'Newest runs' }
      }
      next={
        last === undefined ? null : { href: runsAddress({ ...filter, after: last.id }), text: 'Older runs' }
      }
    />
  );
}
