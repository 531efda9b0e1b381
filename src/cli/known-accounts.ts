// Accounts by the name of one: configured ones, and removed ones, which keep their history.
import type { JournalReader } from '../core/journal-reader.ts';
import { onlyAccountNamed } from './select-accounts.ts';

interface Named {
  readonly name: string;
}

/** The configured accounts, and those that the journal knows. */
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
