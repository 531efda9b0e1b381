// The page at /runs: the runs of all accounts, newest first, filtered as `rolecall history` does.
import { type RunRecord, RUN_STATUSES } from '../../../core/journal.ts';
import type { Visitor } from '../context.ts';
import { parseRunFilter, type RunFilter } from '../run-filter.ts';
import { Layout, Live } from './layout.tsx';
import { FilterForm, Notice, Pager } from './page-parts.tsx';
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

/** Rows of one page. */
export const RUNS_SHOWN = 50;

/** The parts of the filter as texts, for the form and for links. */
export interface RunListFilter {
  readonly account: string;
  readonly status: string;
  readonly since: string;
  /** The last run of the page before; empty on the first page. */
  readonly after: string;
}

export interface RunListRequest {
  readonly filter: RunListFilter;
  /** One run more than a page shows: it shows whether another page follows. */
  readonly query: RunFilter & { readonly after?: string };
  /** What is wrong with the parts that are ignored. */
  readonly problems: readonly string[];
}

const PARTS = ['account', 'status', 'since'] as const;
const RUN_ID = /^[0-9a-f-]{36}$/;

/** The filter in the query of an address. Fields of a form that are empty count as not given. */
export function runListOf(query: (name: string) => string | undefined, nowMs: number): RunListRequest {
  const given = { account: '', status: '', since: '' };
  const problems: string[] = [];
  let parsed: Omit<RunFilter, 'limit'> = {};
  for (const name of PARTS) {
    const text = (query(name) ?? '').trim();
    if (text === '') continue;
    const part = parseRunFilter({ [name]: [text] }, nowMs);
    if ('problem' in part) {
      problems.push(part.problem);
      continue;
    }
    given[name] = text;
    parsed = { ...parsed, ...part };
  }
  const after = query('after') ?? '';
  const isRun = RUN_ID.test(after);
  return {
    filter: { ...given, after: isRun ? after : '' },
    query: { ...parsed, limit: RUNS_SHOWN + 1, ...(isRun ? { after } : {}) },
    problems,
  };
}

/** The address of the page with this filter. */
export function runsAddress(filter: Partial<RunListFilter>): string {
  const query = new URLSearchParams(Object.entries(filter).filter(([, text]) => text !== ''));
  return query.size === 0 ? '/runs' : `/runs?${query.toString()}`;
}
