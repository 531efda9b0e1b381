// Parses the query of the list of accounts, which returns all accounts or a page of them.
import { compareCodePoints } from '../../core/names.ts';

export const MAX_ACCOUNTS = 10_000;

export interface AccountPage {
  /** All if undefined. */
  readonly limit?: number;
  /** Only accounts after this name, which need not exist: the last account of a page may have been removed. */
  readonly after?: string;
}

/** The page, or the problem and its fix. Other parameters are ignored. */
export function parsePage({
  limit = [],
  after = [],
}: Readonly<Record<string, readonly string[]>>): AccountPage | { readonly problem: string } {
  if (limit.length > 1 || after.length > 1) return { problem: 'give limit and after at most once' };
  const [written] = limit;
  const [name] = after;
  const count = written !== undefined && /^\d{1,5}$/.test(written) ? Number(written) : 0;
  if (written !== undefined && (count < 1 || count > MAX_ACCOUNTS))
    return { problem: `limit must be a whole number from 1 to ${MAX_ACCOUNTS}` };
  return {
    ...(written === undefined ? {} : { limit: count }),
    ...(name === undefined ? {} : { after: name }),
  };
}

/** The names of the page; `names` is ordered by code points. */
export function namesOf({ limit, after }: AccountPage, names: readonly string[]): readonly string[] {
  const rest = after === undefined ? names : names.filter((name) => compareCodePoints(name, after) > 0);
  return rest.slice(0, limit);
}
