// rolecall usage: lists skills and roles with the number of people who have them. Writes nothing to the service.
import type { FailedPlan } from '../core/plan.ts';
import { type AccountUsage, accountUsage } from '../core/usage.ts';
import type { ConfiguredAccount } from '../core/settings.ts';
import { loadAccounts, selectAccounts } from './load-accounts.ts';
import { ACCOUNTS_HELP, addReportOptions, type CommandLine } from './command-line.ts';
import type { CommandContext } from './compose.ts';
import { type OutputOptions, printReport } from './console.ts';
import { combine, EXIT, type ExitStatus, failureExit } from './exit-status.ts';

export function addUsage({ program, report }: CommandLine): void {
  addReportOptions(program.command('usage'))
    .description('count the people who have each skill and role')
    .argument('[account...]', ACCOUNTS_HELP)
    .action((names: string[], flags: OutputOptions) =>
      report('usage', flags, (context) => usage(context, names, flags)),
    );
}

async function usage(
  context: CommandContext,
  names: readonly string[],
  options: OutputOptions,
): Promise<ExitStatus> {
  const { openReading } = await import('./read-accounts.ts');
  const { renderUsage } = await import('../report/usage-report.ts');
  const loaded = await loadAccounts(context.configFile);
  const reading = await openReading(context, loaded);
  try {
    // An account that only the journal knows has no token here: it fails by its name, and globs leave it out.
    const known = (await reading.known()).filter(
      ({ name, configured }) => configured || names.includes(name),
    );
    const accounts = selectAccounts(known, names).map(({ name, configured }) => configured ?? removed(name));
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

function removed(name: string): ConfiguredAccount {
  const message = `${name} is not configured here; \`rolecall who NAME ${name}\` reads its last snapshot`;
  return { name, file: name, issues: [{ file: name, line: 1, column: 1, message, severity: 'error' }] };
}
