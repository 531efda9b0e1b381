// Which accounts the arguments of a command select: names, globs, and exclusions that begin with `!`.
import { UsageError } from '../core/errors.ts';
import { globMatcher } from '../core/names.ts';

interface Named {
  readonly name: string;
}

/**
 * The accounts that the arguments select, in the order of the arguments, each once; without a name or a glob all of
 * them, in their own order. An exclusion applies wherever it is among the arguments. Throws UsageError for an argument
 * that matches no account, since a mistyped exclusion would include what it was meant to exclude.
 */
export function selectAccounts<T extends Named>(accounts: readonly T[], args: readonly string[]): T[] {
  const wanted = args.filter((arg) => !arg.startsWith('!'));
  const included =
    wanted.length === 0 ? [...accounts] : wanted.flatMap((arg) => matching(accounts, arg, arg));
  const excluded = new Set(
    args.filter((arg) => arg.startsWith('!')).flatMap((arg) => matching(accounts, arg.slice(1), arg)),
  );
  const selected = [...new Set(included)].filter((account) => !excluded.has(account));
  if (selected.length === 0 && args.length > 0) {
    throw new UsageError(
      `${args.map((arg) => JSON.stringify(arg)).join(' ')} selects no account; ${known(accounts)}`,
    );
  }
  return selected;
}

/** The one account with this name. Throws UsageError. */
export function accountNamed<T extends Named>(accounts: readonly T[], name: string): T {
  const account = accounts.find((candidate) => candidate.name === name);
  if (account === undefined) throw noAccount(accounts, name);
  return account;
}

/** `the accounts are: a, b`, for a message. */
export function known(accounts: readonly Named[]): string {
  return `the accounts are: ${accounts.map(({ name }) => name).join(', ') || 'none'}`;
}

function matching<T extends Named>(accounts: readonly T[], pattern: string, arg: string): T[] {
  const named = accounts.filter(({ name }) => name === pattern);
  if (named.length > 0) return named;
  const matches = globMatcher(pattern);
  const found = accounts.filter(({ name }) => matches(name));
  if (found.length === 0) throw noAccount(accounts, arg);
  return found;
}

function noAccount(accounts: readonly Named[], arg: string): UsageError {
  const isGlob = /^!|[*?\\]/u.test(arg);
  const what = isGlob
    ? `no account matches ${JSON.stringify(arg)}`
    : `there is no account ${JSON.stringify(arg)}`;
  return new UsageError(`${what}; ${known(accounts)}`);
}
