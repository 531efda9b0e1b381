// rolecall dump: an account file made from what the account holds now; how an existing account is taken over.
import { readLists } from '../app/observe.ts';
import { describeFailure } from '../app/run-result.ts';
import { listedAccountId } from '../core/identity.ts';
import { loadAccounts, settingsOf } from './accounts.ts';
import { openOutput, sayFailure, sayWarnings } from './console.ts';
import type { Environment } from './environment.ts';
import type { ExitStatus } from './exit-status.ts';
import { EXIT, failureExit } from './exit-status.ts';
import { accountNamed } from './select-accounts.ts';
import { listenForSignals } from './signals.ts';

export async function dump(
  environment: Environment,
  configFile: string,
  name: string,
  options: { readonly output?: string | undefined },
): Promise<ExitStatus> {
  const { service, accounts } = await loadAccounts(environment, configFile, []);
  const settings = settingsOf(accountNamed(accounts, name));
  const signals = listenForSignals(service.daemon.shutdownGraceMs);
  const readable = await environment.openReadable(service);
  try {
    const observed = await readLists(await readable.service.reader(settings, signals));
    sayWarnings(observed.warnings.map(({ message }) => message));
    const text = await environment.accountFileText({
      account: settings,
      accountId: listedAccountId(observed) ?? settings.accountId ?? null,
      skills: observed.skill.map((entry) => entry.name),
      roles: observed.role.map((entry) => entry.name),
    });
    const output = openOutput({ format: 'text', output: options.output });
    await output.print(text);
    await output.close();
    return EXIT.done;
  } catch (error) {
    const failure = describeFailure(error);
    sayFailure(name, failure);
    return signals.stop.aborted ? EXIT.interrupted : failureExit(failure.code);
  } finally {
    await readable.close();
    signals.release();
  }
}
