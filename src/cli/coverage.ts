// The coverage of accounts, for `who` without a name: each skill and role with the people who have it, from the last good
// lists, or from the service. Writes nothing to the service.
import type { JournalReader } from '../core/ports/journal-reader.ts';
import type { FailedPlan } from '../core/plan.ts';
import { StoreError } from '../core/errors.ts';
import { type AccountUsage, accountUsage } from '../core/usage.ts';
import type { CommandContext } from './compose.ts';
import { type OutputOptions, printReport } from './console.ts';
import { combine, EXIT, type ExitStatus, failureExit } from './exit-status.ts';
import { type KnownAccount, loadAccounts, selectAccounts } from './load-accounts.ts';
import { newestSnapshot } from './open-journal.ts';

/** From the last good lists of these accounts. Throws StoreError when an account has none. */
export async function storedCoverage(
  reader: JournalReader,
  accounts: readonly KnownAccount[],
  options: OutputOptions,
): Promise<void> {
  const usages: AccountUsage[] = [];
  for (const { name: account } of accounts) {
    const snapshot = await newestSnapshot(reader, { account, isGood: true });
    const entries = snapshot && (await reader.snapshotEntries(snapshot));
    const resources = snapshot && (await reader.snapshotPeople(snapshot));
    if (entries === null || resources === null || snapshot === null) {
      throw new StoreError(
        'snapshot_unknown',
        `no good lists of ${account} are stored; run \`rolecall plan ${account}\`, or use --live`,
      );
    }
    usages.push(accountUsage(account, { ...entries, resources }, snapshot.takenAt));
  }
  const { renderCoverage } = await import('../report/coverage-report.ts');
  await printReport(options, (render) => renderCoverage(usages, render));
}

/** From the service, which is read now. */
export async function liveCoverage(
  context: CommandContext,
  names: readonly string[],
  options: OutputOptions,
): Promise<ExitStatus> {
  const { openReading } = await import('./read-accounts.ts');
  const loaded = await loadAccounts(context.configFile);
  const accounts = selectAccounts(loaded.accounts, names);
  const reading = await openReading(context, loaded);
  try {
    const exits: ExitStatus[] = [];
    const usages = await reading.readEach(
      accounts,
      async ({ name: account }, read): Promise<AccountUsage | FailedPlan> => {
        try {
          const { observed } = await read();
          return accountUsage(account, observed, new Date().toISOString());
        } catch (error) {
          const failure = reading.reportFailure(account, error);
          exits.push(failureExit(failure.code));
          return { schemaVersion: 1, account, status: 'failed', error: failure };
        }
      },
    );
    const { renderCoverage } = await import('../report/coverage-report.ts');
    await printReport(options, (render) => renderCoverage(usages, render));
    return reading.isInterrupted() ? EXIT.interrupted : combine(exits);
  } finally {
    await reading.close();
  }
}
