// The addresses of accounts. A file whose name is not a valid account name is an account too, with errors to show.
import { OPERATOR_ACTIONS } from '../../core/operator.ts';

/** The part of a route that matches the name of an account. */
export const ACCOUNT = ':name{[^/]+}';

const FORM = new RegExp(`^(/accounts/[^/?]+)/(?:${OPERATOR_ACTIONS.join('|')})$`);

/** The address of the page of an account. */
export function accountPath(name: string): string {
  return `/accounts/${encodeURIComponent(name)}`;
}

/** The page with the form that posts to this address; null for any other address. */
export function formPageOf(path: string): string | null {
  return FORM.exec(path)?.[1] ?? null;
}
