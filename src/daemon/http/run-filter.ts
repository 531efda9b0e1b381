// Parses the query of a list of runs: account, status, start time and limit.
import { parseDuration } from '../../core/durations-and-sizes.ts';
import { RUN_STATUSES, type RunStatus } from '../../core/journal.ts';

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

/** The filter, or the problem and its fix. Each parameter may be given once; unknown ones are refused. */
export function parseRunFilter(
  query: Readonly<Record<string, readonly string[]>>,
  nowMs: number,
): RunFilter | { readonly problem: string } {
  let filter: RunFilter = { limit: DEFAULT_LIMIT };
  for (const [name, values] of Object.entries(query)) {
    const [text = '', ...others] = values;
    if (others.length > 0)
      return { problem: `${JSON.stringify(name)} is given more than once; give it once` };
    const part = parsePart(name, text, nowMs);
    if ('problem' in part) return part;
    filter = { ...filter, ...part };
  }
  return filter;
}

function parsePart(
  name: string,
  text: string,
  nowMs: number,
): Partial<RunFilter> | { readonly problem: string } {
  switch (name) {
    case 'account':
      return NAME.test(text)
        ? { account: text }
        : wrong(name, text, 'write the name of an account: letters, digits, dot, hyphen and underscore');
    case 'status': {
      const status = RUN_STATUSES.find((each) => each === text);
      return status === undefined ? wrong(name, text, `write one of ${RUN_STATUSES.join(', ')}`) : { status };
    }
    case 'since': {
      const ms = parseDuration(text);
      return ms === undefined
        ? wrong(name, text, 'write a duration such as 30m, 24h or 7d')
        : { sinceMs: Math.max(0, nowMs - ms) };
    }
    case 'limit': {
      const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0;
      return limit >= 1 && limit <= MAX_RUNS
        ? { limit }
        : wrong(name, text, `write a whole number from 1 to ${MAX_RUNS}`);
    }
    default:
      return {
        problem: `${JSON.stringify(name)} is unknown; the parameters are account, status, since and limit`,
      };
  }
}

function wrong(name: string, text: string, fix: string): { readonly problem: string } {
  return { problem: `${name}=${JSON.stringify(text.slice(0, 100))}: ${fix}` };
}
