// The query of a list of runs: which account, which status, since when, how many.
import { RUN_STATUSES, type RunStatus } from '../../core/journal.ts';

export const DEFAULT_LIMIT = 50;
export const MOST_RUNS = 1000;

const NAME = /^[A-Za-z0-9._-]{1,255}$/;
const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

export interface RunFilter {
  readonly limit: number;
  readonly account?: string;
  readonly status?: RunStatus;
  /** An instant: nothing that began before it. */
  readonly sinceMs?: number;
}

/** The filter, or what is wrong with the query and the mend. A parameter may stand once; an unknown one is wrong. */
export function parseRunFilter(
  query: Readonly<Record<string, readonly string[]>>,
  nowMs: number,
): RunFilter | { readonly problem: string } {
  let filter: RunFilter = { limit: DEFAULT_LIMIT };
  for (const [name, values] of Object.entries(query)) {
    const [text = '', ...others] = values;
    if (others.length > 0) return { problem: `${JSON.stringify(name)} stands more than once; give it once` };
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
      const ms = durationMs(text);
      return ms === null
        ? wrong(name, text, 'write a duration as 30m, 24h or 7d')
        : { sinceMs: Math.max(0, nowMs - ms) };
    }
    case 'limit': {
      const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0;
      return limit >= 1 && limit <= MOST_RUNS
        ? { limit }
        : wrong(name, text, `write a whole number from 1 to ${MOST_RUNS}`);
    }
    default:
      return { problem: `${JSON.stringify(name)} is none of account, status, since, limit` };
  }
}

function wrong(name: string, text: string, mend: string): { readonly problem: string } {
  return { problem: `${name}=${JSON.stringify(text.slice(0, 100))}: ${mend}` };
}

/** As the command line writes durations; null for anything else. */
function durationMs(text: string): number | null {
  const [, digits, unit = ''] = /^(\d{1,12})(ms|s|m|h|d)$/.exec(text) ?? [];
  const ms = Number(digits) * (UNIT_MS[unit] ?? Number.NaN);
  return Number.isNaN(ms) ? null : ms;
}
