// Opens the journal for the commands to the daemon (approve, pause, resume), which reach it through the store.
import { ConfigError } from '../core/errors.ts';
import type { AccountRecord, JournalReader } from '../core/journal-reader.ts';
import type { OperatorCommands } from '../core/operator.ts';
import { errorsOf, withoutAccounts } from './load-accounts.ts';
import type { CommandContext } from './command-line.ts';
import type { ExitStatus } from './exit-status.ts';
import { accountNamed } from './select-accounts.ts';

/** Calls `work` with the account's record. A store that does not exist yet is created. Throws UsageError. */
export async function withOperatorCommands(
  { environment, configFile }: CommandContext,
  account: string,
  work: (
    operator: OperatorCommands,
    record: AccountRecord | undefined,
    reader: JournalReader,
  ) => Promise<ExitStatus>,
): Promise<ExitStatus> {
  const configuration = await environment.loadConfiguration(configFile);
  const { service, accounts, issues } = configuration;
  if (service === undefined) throw new ConfigError(errorsOf(issues));
  const journal = await environment.openJournal(service, { mayBeNew: true });
  try {
    // With `source.git` the account file may exist only in the daemon's checkout. Then the store contains the account.
    const [record] = await journal.reader.accounts(account);
    if (record === undefined && accounts.length === 0) throw withoutAccounts(configuration);
    if (record === undefined) accountNamed(accounts, account);
    return await work(journal.operator, record, journal.reader);
  } finally {
    await journal.close();
  }
}
