// rolecall usage: lists skills and roles with the number of people who have them. Writes nothing to the service.
import type { FailedPlan } from '../core/plan.ts';
import type { ProgressObserver } from '../core/progress.ts';
import type { ConfiguredAccount } from '../core/settings.ts';
import { type AccountUsage, accountUsage } from '../core/usage.ts';
import { loadAccounts, mapAccounts, settingsOf } from './load-accounts.ts';
import {
  ACCOUNTS_HELP,
  addReportOptions,
  addRetryAfterOption,
  type CommandContext,
  type CommandLine,
} from './command-line.ts';
import { openOutput, type OutputOptions } from './console.ts';
import type { RetryAfterOptions } from './environment.ts';
import { combine, EXIT, type ExitStatus, failureExit } from './exit-status.ts';
import { listenForSignals } from './signals.ts';

type UsageFlags = OutputOptions & RetryAfterOptions;

export function addUsage({ program, report }: CommandLine): void {
  addRetryAfterOption(addReportOptions(program.command('usage')))
    .description('list skills and roles with the number of people who have them')
    .argument('[account...]', ACCOUNTS_HELP)
    .action((names: string[], flags: UsageFlags) =>
      report('usage', flags, (context) => usage(context, names, flags)),
    );
}

async function usage(
  { environment, configFile }: CommandContext,
  names: readonly string[],
  options: UsageFlags,
): Promise<ExitStatus> {
  const { openReading } = await import('./read-accounts.ts');
  const { renderUsage } = await import('../report/usage-report.ts');
  const { configuration, service, accounts } = await loadAccounts(environment, configFile, names);
  const { createProgress } = await import('./progress.ts');
  const progress = createProgress();
  const signals = listenForSignals(service.daemon.shutdownGraceMs, progress);
  const { observer } = progress;
  const reading = await openReading(environment, configuration, service, { ...options, observer });
  try {
    const exits: ExitStatus[] = [];
    const usageOf = async (
      account: ConfiguredAccount,
      observe: ProgressObserver,
    ): Promise<AccountUsage | FailedPlan> => {
      try {
        const { observed } = await reading.read(settingsOf(account), signals, observe);
        return accountUsage(account.name, observed);
      } catch (error) {
        const failure = await reading.reportFailure(account.name, error);
        exits.push(failureExit(failure.code));
        return { schemaVersion: 1, account: account.name, status: 'failed', error: failure };
      }
    };
    const usages = await progress.during({ verb: 'read', accounts: accounts.length }, (track) =>
      mapAccounts(accounts, service.daemon.maxRuns, (account) =>
        track(account.name, (observe) => usageOf(account, observe)),
      ),
    );
    const output = openOutput(options);
    await output.print(renderUsage(usages, output.render));
    await output.close();
    return signals.stop.aborted ? EXIT.interrupted : combine(exits);
  } finally {
    await reading.close();
    signals.release();
  }
}
