// rolecall usage: each skill and role with how many people have it. Only reads.
import { readLists } from '../app/observe.ts';
import { describeFailure } from '../app/run-result.ts';
import type { AccountUsage } from '../core/usage.ts';
import { accountUsage } from '../core/usage.ts';
import { renderUsage } from '../report/usage-report.ts';
import { loadAccounts, mapAccounts, settingsOf } from './accounts.ts';
import type { OutputOptions } from './console.ts';
import { openOutput, sayFailure } from './console.ts';
import type { Environment, RetryAfterOptions } from './environment.ts';
import type { ExitStatus } from './exit-status.ts';
import { combine, EXIT, failureExit } from './exit-status.ts';
import { listenForSignals } from './signals.ts';

export async function usage(
  environment: Environment,
  configFile: string,
  names: readonly string[],
  options: OutputOptions & RetryAfterOptions,
): Promise<ExitStatus> {
  const { service, accounts } = await loadAccounts(environment, configFile, names);
  const signals = listenForSignals(service.daemon.shutdownGraceMs);
  const readable = await environment.openReadable(service, options);
  try {
    const exits: ExitStatus[] = [];
    const usages = await mapAccounts(accounts, service.daemon.maxRuns, async (account) => {
      try {
        const reader = await readable.service.reader(settingsOf(account), signals);
        return [accountUsage(account.name, await readLists(reader))];
      } catch (error) {
        const failure = describeFailure(error);
        sayFailure(account.name, failure);
        await readable.noteFailure(account.name, error);
        exits.push(failureExit(failure.code));
        return [] satisfies AccountUsage[];
      }
    });
    const output = openOutput(options);
    await output.print(renderUsage(usages.flat(), output.render));
    await output.close();
    return signals.stop.aborted ? EXIT.interrupted : combine(exits);
  } finally {
    await readable.close();
    signals.release();
  }
}
