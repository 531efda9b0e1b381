// The addresses of accounts. A file whose name is not a valid account name is an account too, with errors to show.

/** The part of a route that matches the name of an account. */
export const ACCOUNT = ':name{[^/]+}';

/** The address of the page of an account. */
export function accountPath(name: string): string {
  return `/accounts/${encodeURIComponent(name)}`;
}
