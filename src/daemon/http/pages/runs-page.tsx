// The pages of what happened, newest first: /runs has the runs of all accounts, filtered as `rolecall history` does, and
// /activity what operators did.
import { RUN_STATUSES, type RunStatus } from '../../../core/journal.ts';
import type { RunRecord } from '../../../core/schemas.ts';
import type { OperatorActionRecord } from '../../../core/command-schemas.ts';
import { Actions } from './account-facts.tsx';
import { Layout } from './layout.tsx';
import { addressOf, Card, Errors, FilterForm, Pager } from './page-parts.tsx';
import { RunTable } from './run-page.tsx';
import { parseDuration } from '../../../core/durations-and-sizes.ts';

interface RunsPageProps {
  readonly request: RunListRequest;
  /** At most one more than the page shows. */
  readonly runs: readonly RunRecord[];
}

export function RunsPage({ request: { filter, problems }, runs }: RunsPageProps) {
  const shown = runs.slice(0, RUNS_SHOWN);
  // Each page begins behind a run, so that runs that start meanwhile move no row to another page.
  const last = runs.length > shown.length ? shown.at(-1) : undefined;
  const isFiltered = filter.account !== '' || filter.status !== '';
  return (
    <Layout title="Runs" current="runs" isLive>
      <h1>Runs</h1>
      <div class="above">
        <FilterForm
          at="/runs"
          search={{ label: 'Account', name: 'account', value: filter.account }}
          isFiltered={isFiltered}
        >
          <select name="status" aria-label="Status">
            <option value="">any status</option>
            {RUN_STATUSES.map((status) => (
              <option value={status} selected={status === filter.status}>
                {status}
              </option>
            ))}
          </select>
        </FilterForm>
      </div>
      <Errors title="The filter is ignored." errors={problems} />
      {shown.length === 0 ? <p class="card">{nothing(filter, isFiltered)}</p> : <RunTable runs={shown} />}
      <Pager
        label="Pages of runs"
        previous={filter.after === '' ? null : ['Newest runs', addressOf('/runs', { ...filter, after: '' })]}
        next={last === undefined ? null : ['Older runs', addressOf('/runs', { ...filter, after: last.id })]}
      />
    </Layout>
  );
}

function nothing({ after }: RunListRequest['filter'], isFiltered: boolean): string {
  if (after !== '') return 'There are no older runs.';
  return isFiltered ? 'No run matches the filter.' : 'No account has run yet.';
}

interface ActivityPageProps {
  /** At most one more than the page shows. */
  readonly actions: readonly OperatorActionRecord[];
  /** Whether newer ones precede them. */
  readonly isContinued: boolean;
}

export function ActivityPage({ actions, isContinued }: ActivityPageProps) {
  const shown = actions.slice(0, RUNS_SHOWN);
  const last = actions.length > shown.length ? shown.at(-1) : undefined;
  const next = last === undefined ? null : (['Older actions', `/activity?before=${last.seq}`] as const);
  return (
    <Layout title="Activity" current="activity" isLive>
      <h1>Activity</h1>
      <Card title="Who did what">
        {shown.length === 0 ? (
          <p class="quiet">
            {isContinued ? 'There are no older actions.' : 'No operator has done anything yet.'}
          </p>
        ) : (
          <Actions actions={shown} hasAccounts />
        )}
      </Card>
      <Pager
        label="Pages of actions"
        previous={isContinued ? ['Newest actions', '/activity'] : null}
        next={next}
      />
    </Layout>
  );
}

/** Rows of one page. */
export const RUNS_SHOWN = 50;

type RunListRequest = ReturnType<typeof runListOf>;

const RUN_ID = /^[0-9a-f-]{36}$/;

/** The filter in the query of an address. Fields of a form that are empty count as not given. */
export function runListOf(query: (name: string) => string | undefined, nowMs: number) {
  const [account = '', status = '', after = ''] = ['account', 'status', 'after'].map((name) =>
    query(name)?.trim(),
  );
  const given = Object.entries({ account, status }).filter(([, text]) => text !== '');
  const parsed = parseRunFilter(Object.fromEntries(given.map(([name, text]) => [name, [text]])), nowMs);
  const behind = RUN_ID.test(after) ? { after } : {};
  const limit = RUNS_SHOWN + 1;
  const isWrong = 'problem' in parsed;
  return {
    /** Its parts as texts, for the form and for links. `after`: the last run of the page before; empty on the first page. */
    filter: { ...(isWrong ? { account: '', status: '' } : { account, status }), after: '', ...behind },
    /** One run more than a page shows: it shows whether another page follows. */
    query: { ...(isWrong ? {} : parsed), limit, ...behind },
    /** Why the filter is ignored. */
    problems: isWrong ? [parsed.problem] : [],
  };
}

export const DEFAULT_LIMIT = 50;
export const MAX_RUNS = 1000;

/** Also names that are not valid: such an account has runs, which fail. */
const NAME = /^[^/\\\p{Cc}]{1,255}$/u;

export interface RunFilter {
  readonly limit: number;
  readonly account?: string;
  readonly status?: RunStatus;
  /** Only runs that began at this time or later; epoch milliseconds. */
  readonly sinceMs?: number;
}

interface Parameter {
  /** Undefined for a wrong value. */
  readonly parse: (text: string, nowMs: number) => Partial<RunFilter> | undefined;
  readonly fix: string;
}

const PARAMETERS: Readonly<Record<string, Parameter>> = {
  account: {
    parse: (account) => (NAME.test(account) ? { account } : undefined),
    fix: 'write the name of an account: letters, digits, dot, hyphen and underscore',
  },
  status: {
    parse: (text) => RUN_STATUSES.filter((status) => status === text).map((status) => ({ status }))[0],
    fix: `write one of ${RUN_STATUSES.join(', ')}`,
  },
  since: {
    parse(text, nowMs) {
      const ms = parseDuration(text);
      return ms === undefined ? undefined : { sinceMs: Math.max(0, nowMs - ms) };
    },
    fix: 'write a duration such as 30m, 24h or 7d',
  },
  limit: {
    parse(text) {
      const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0;
      return limit >= 1 && limit <= MAX_RUNS ? { limit } : undefined;
    },
    fix: `write a whole number from 1 to ${MAX_RUNS}`,
  },
};

/** The filter, or the problem and its fix. Each parameter may be given once; unknown ones are refused. */
export function parseRunFilter(
  query: Readonly<Record<string, readonly string[]>>,
  nowMs: number,
): RunFilter | { readonly problem: string } {
  let filter: RunFilter = { limit: DEFAULT_LIMIT };
  for (const [name, [text = '', ...others]] of Object.entries(query)) {
    const quoted = JSON.stringify(name);
    if (others.length > 0) return { problem: `${quoted} is given more than once; give it once` };
    const parameter = Object.hasOwn(PARAMETERS, name) ? PARAMETERS[name] : undefined;
    if (parameter === undefined)
      return { problem: `${quoted} is unknown; the parameters are account, status, since and limit` };
    const part = parameter.parse(text, nowMs);
    if (part === undefined)
      return { problem: `${name}=${JSON.stringify(text.slice(0, 100))}: ${parameter.fix}` };
    filter = { ...filter, ...part };
  }
  return filter;
}
