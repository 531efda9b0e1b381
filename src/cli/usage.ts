// rolecall usage: lists skills and roles with the number of people who have them. Writes nothing to the service.
import type { FailedPlan } from '../core/plan.ts';
import { type AccountUsage, accountUsage } from '../core/usage.ts';
import { loadAccounts } from './load-accounts.ts';
import {
  ACCOUNTS_HELP,
  addReportOptions,
  addRetryAfterOption,
  type CommandContext,
  type CommandLine,
} from './command-line.ts';
import { type OutputOptions, printReport } from './console.ts';
import type { RetryAfterOptions } from './compose.ts';
import { combine, EXIT, type ExitStatus, failureExit } from './exit-status.ts';

type UsageFlags = OutputOptions & RetryAfterOptions;

export function addUsage({ program, report }: CommandLine): void {
  addRetryAfterOption(addReportOptions(program.command('usage')))
    .description('count the people who have each skill and role')
    .argument('[account...]', ACCOUNTS_HELP)
    .action((names: string[], flags: UsageFlags) =>
      report('usage', flags, (context) => usage(context, names, flags)),
    );
}

async function usage(
  { version, configFile }: CommandContext,
  names: readonly string[],
  options: UsageFlags,
): Promise<ExitStatus> {
  const { openReading } = await import('./read-accounts.ts');
  const { renderUsage } = await import('../report/usage-report.ts');
  const { configuration, service, accounts } = await loadAccounts(configFile, names);
  const reading = await openReading({ version, configuration, service }, options);
  try {
    const exits: ExitStatus[] = [];
    const usages = await reading.readEach(
      accounts,
      async ({ name: account }, read): Promise<AccountUsage | FailedPlan> => {
        try {
          const { observed } = await read();
          return accountUsage(account, observed);
        } catch (error) {
          const failure = reading.reportFailure(account, error);
          exits.push(failureExit(failure.code));
          return { schemaVersion: 1, account, status: 'failed', error: failure };
        }
      },
    );
    await printReport(options, (render) => renderUsage(usages, render));
    return reading.isInterrupted() ? EXIT.interrupted : combine(exits);
  } finally {
    await reading.close();
  }
}
