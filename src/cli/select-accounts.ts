// Selects accounts by the arguments of a command: names, globs, and exclusions that begin with `!`.
import { UsageError } from '../core/errors.ts';
import type { JournalReader } from '../core/ports/journal-reader.ts';
import { globMatcher } from '../core/names.ts';

interface Named {
  readonly name: string;
}

/**
 * The accounts that the arguments select, each once, in the order of the arguments. Without a name or a glob: all
 * accounts, in their own order. The position of an exclusion does not matter. Throws UsageError for an argument that
 * matches no account, since a mistyped exclusion would include the account that it must exclude.
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
      `${args.map((arg) => JSON.stringify(arg)).join(' ')} selects no account; ${accountList(accounts)}`,
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

/** The one account of a command that takes no patterns. Throws UsageError that lists what a pattern matches. */
export function onlyAccountNamed<T extends Named>(accounts: readonly T[], name: string, command: string): T {
  const account = accounts.find((candidate) => candidate.name === name);
  if (account !== undefined || !isPattern(name)) return account ?? accountNamed(accounts, name);
  const isExclusion = name.startsWith('!');
  const matches = globMatcher(isExclusion ? name.slice(1) : name);
  const matched = accounts.filter((candidate) => matches(candidate.name) !== isExclusion);
  const found =
    matched.length === 0
      ? `it matches no account; ${accountList(accounts)}`
      : `it matches: ${matched.map((each) => each.name).join(', ')}`;
  throw new UsageError(
    `${command} needs the name of exactly one account, but ${JSON.stringify(name)} is a pattern; ${found}`,
  );
}

function isPattern(arg: string): boolean {
  return /^!|[*?\\]/u.test(arg);
}

/** `the accounts are: a, b`, for a message. */
export function accountList(accounts: readonly Named[]): string {
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
  const what = isPattern(arg)
    ? `no account matches ${JSON.stringify(arg)}`
    : `there is no account ${JSON.stringify(arg)}`;
  return new UsageError(`${what}; ${accountList(accounts)}`);
}

/** The configured accounts, and those that the journal knows: removed ones keep their history. */
export async function knownAccounts(
  reader: Pick<JournalReader, 'accounts'>,
  configured: readonly Named[],
): Promise<readonly Named[]> {
  const names = new Set([...configured, ...(await reader.accounts())].map(({ name }) => name));
  return [...names].map((name) => ({ name }));
}

/** Throws UsageError when an account is named that is neither configured nor in the journal: its name may be mistyped. */
export async function requireKnown(
  account: string | undefined,
  reader: Pick<JournalReader, 'accounts'>,
  configured: readonly Named[],
  command: string,
): Promise<void> {
  if (account !== undefined) onlyAccountNamed(await knownAccounts(reader, configured), account, command);
}
