// rolecall usage: lists skills and roles with the number of people who have them. Writes nothing to the service.
import { describeFailure } from '../app/run-result.ts';
import type { FailedPlan } from '../core/plan.ts';
import type { AccountUsage } from '../core/usage.ts';
import { accountUsage } from '../core/usage.ts';
import { renderUsage } from '../report/usage-report.ts';
import { loadAccounts, mapAccounts, settingsOf } from './accounts.ts';
import type { OutputOptions } from './console.ts';
import { openOutput, showFailure } from './console.ts';
import type { Environment, RetryAfterOptions } from './environment.ts';
import type { ExitStatus } from './exit-status.ts';
import { combine, EXIT, failureExit } from './exit-status.ts';
import { orJsonFailure } from './json-failure.ts';
import { openReading } from './read-accounts.ts';
import { listenForSignals } from './signals.ts';

async function readUsage(
  environment: Environment,
  configFile: string,
  names: readonly string[],
  options: OutputOptions & RetryAfterOptions,
): Promise<ExitStatus> {
  const { configuration, service, accounts } = await loadAccounts(environment, configFile, names);
  const signals = listenForSignals(service.daemon.shutdownGraceMs);
  const reading = await openReading(environment, configuration, service, options);
  try {
    const exits: ExitStatus[] = [];
    const usages = await mapAccounts(
      accounts,
      service.daemon.maxRuns,
      async (account): Promise<AccountUsage | FailedPlan> => {
        try {
          const { observed } = await reading.read(settingsOf(account), signals);
          return accountUsage(account.name, observed);
        } catch (error) {
          const failure = describeFailure(error);
          showFailure(account.name, failure);
          await reading.noteFailure(account.name, error);
          exits.push(failureExit(failure.code));
          return { schemaVersion: 1, account: account.name, status: 'failed', error: failure };
        }
      },
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

export async function usage(...args: Parameters<typeof readUsage>): Promise<ExitStatus> {
  return await orJsonFailure(args[3], 'list', () => readUsage(...args));
}
