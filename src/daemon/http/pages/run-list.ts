// Which runs the page of all runs shows: the filter in its address, with which a wrong part is reported and ignored.
import { parseRunFilter, type RunFilter } from '../run-filter.ts';

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
