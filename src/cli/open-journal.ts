// Opens the journal for commands that read the store, and for those that reach the daemon through it.
import { userInfo } from 'node:os';
import { ConfigError } from '../core/errors.ts';
import type { AccountRecord, JournalReader } from '../core/ports/journal-reader.ts';
import type { Operator, OperatorCommands } from '../core/operator.ts';
import type { CommandContext } from './command-line.ts';
import type { Output } from './console.ts';
import { errorsOf, type Loaded, loadConfiguration, loadForStore, withoutAccounts } from './load-accounts.ts';
import { accountNamed } from './select-accounts.ts';

/** Calls `work` with the journal of an existing store, and closes it. */
export async function withJournal<T>(
  { configFile }: CommandContext,
  work: (reader: JournalReader, loaded: Loaded) => Promise<T>,
): Promise<T> {
  const loaded = await loadForStore(configFile);
  const { openJournal } = await import('./compose.ts');
  const store = await openJournal(loaded.service);
  try {
    return await work(store.reader, loaded);
  } finally {
    await store.close();
  }
}

/** The parts of the store that an operator's command works with. */
interface OperatorJournal {
  readonly operator: OperatorCommands;
  readonly reader: JournalReader;
  /** The stored record of the account. */
  readonly record: AccountRecord | undefined;
  /** Who runs the command. */
  readonly user: Operator;
}

/** Calls `work` with the account's record. A store that does not exist yet is created. Throws UsageError. */
export async function withOperatorCommands<T>(
  { configFile }: CommandContext,
  account: string,
  work: (journal: OperatorJournal) => Promise<T>,
): Promise<T> {
  const configuration = await loadConfiguration(configFile);
  const { service, accounts, issues } = configuration;
  if (service === undefined) throw new ConfigError(errorsOf(issues));
  const { openJournal } = await import('./compose.ts');
  const store = await openJournal(service, {});
  const { reader, operator } = store;
  try {
    // With `source.git` the account file may exist only in the daemon's checkout. Then the store contains the account.
    const [record] = await reader.accounts(account);
    if (record === undefined && accounts.length === 0) throw withoutAccounts(configuration);
    if (record === undefined) accountNamed(accounts, account);
    return await work({ operator, reader, record, user: currentUser() });
  } finally {
    await store.close();
  }
}

/** The user of the machine that runs the command. */
export function currentUser(): Operator {
  return { name: userName(), via: 'cli' };
}

/** A user id without an entry in the user database, as in many containers, has no name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}

/** The time and twelve random bits of an id. `show` lists the runs where that is ambiguous. */
const SHORT_ID = 18;

/** How ids of runs are printed in tables: shortened where a person reads them, complete where a program may. */
export function printedIds(
  ids: readonly string[],
  { isTerminal }: Pick<Output, 'isTerminal'>,
): ReadonlyMap<string, string> {
  return new Map(ids.map((id) => [id, isTerminal ? id.slice(0, SHORT_ID) : id]));
}
