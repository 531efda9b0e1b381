// Parses the query of the list of accounts, which returns all accounts or a page of them.
import { compareCodePoints } from '../../core/names.ts';

export const MAX_ACCOUNTS = 10_000;

const NAME = /^[A-Za-z0-9._-]{1,255}$/;

export interface AccountPage {
  /** All if undefined. */
  readonly limit?: number;
  /** Only accounts after this name, which need not exist: the last account of a page may have been removed. */
  readonly after?: string;
}

/** The page, or the problem and its fix. Each parameter may be given once; unknown ones are refused. */
export function parsePage(
  query: Readonly<Record<string, readonly string[]>>,
): AccountPage | { readonly problem: string } {
  let page: AccountPage = {};
  for (const [name, [text = '', ...others]] of Object.entries(query)) {
    if (others.length > 0)
      return { problem: `${JSON.stringify(name)} is given more than once; give it once` };
    if (name === 'limit') {
      const limit = /^\d{1,5}$/.test(text) ? Number(text) : 0;
      if (limit < 1 || limit > MAX_ACCOUNTS)
        return wrong(name, text, `write a whole number from 1 to ${MAX_ACCOUNTS}`);
      page = { ...page, limit };
    } else if (name === 'after') {
      if (!NAME.test(text)) return wrong(name, text, 'write the name of the last account of the page before');
      page = { ...page, after: text };
    } else {
      return { problem: `${JSON.stringify(name)} is unknown; the parameters are limit and after` };
    }
  }
  return page;
}

/** The names of the page; `names` is ordered by code points. */
export function namesOf({ limit, after }: AccountPage, names: readonly string[]): readonly string[] {
  const rest = after === undefined ? names : names.filter((name) => compareCodePoints(name, after) > 0);
  return rest.slice(0, limit);
}

function wrong(name: string, text: string, fix: string): { readonly problem: string } {
  return { problem: `${name}=${JSON.stringify(text.slice(0, 100))}: ${fix}` };
}
