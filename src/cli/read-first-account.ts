// Reads the account of `init` with the files that are about to be written, and completes its file with what it contains.
import path from 'node:path';
import type { ReadAccount } from '../app/read-account.ts';
import { ConfigError } from '../core/errors.ts';
import type { Configuration, ConfiguredAccount, ServiceSettings } from '../core/settings.ts';
import { showMessage, showWarnings } from './console.ts';
import type { DraftFiles, DumpedAccount, Environment } from './environment.ts';
import { EXIT, type ExitStatus } from './exit-status.ts';
import { accountText, type FirstAccount, serviceText } from './first-files.ts';
import type { FirstPlace } from './first-place.ts';
import { listDoubts, showDoubts } from './list-doubts.ts';
import { errorsOf, settingsOf } from './load-accounts.ts';
import { openReading } from './read-accounts.ts';

/** The user waits for the answer, and nothing is lost by trying again. */
const RETRIES = 1;

/** An account as it was read, with the draft of its files. */
export interface FirstReading {
  readonly draft: DraftFiles;
  readonly account: ConfiguredAccount;
  readonly content: ReadAccount;
}

/** The two files before the account was read. */
export function draftOf(place: FirstPlace, first: FirstAccount): DraftFiles {
  return {
    configFile: place.configFile,
    texts: {
      [path.basename(place.configFile)]: serviceText(first, place.store),
      [`accounts/${first.account}.yaml`]: accountText(first),
    },
  };
}

/** Reads the account; only lists are requested. After a failure, which is shown, the exit status. Throws ConfigError. */
export async function readFirstAccount(
  environment: Environment,
  draft: DraftFiles,
): Promise<FirstReading | ExitStatus> {
  const { configuration, service, account } = await load(environment, draft);
  const impatient = { ...service, api: { ...service.api, retries: RETRIES } };
  const reading = await openReading({ environment, configuration, service: impatient });
  try {
    const content = await reading.readCarefully(account);
    showWarnings(content.observed.warnings.map(({ message }) => message));
    const doubts = listDoubts(content);
    if (content.implausible === null) {
      showDoubts(account.name, doubts);
      return { draft, account, content };
    }
    for (const doubt of doubts) showMessage(`error: ${account.name}: ${doubt}`);
    showMessage(`error: ${account.name}: nothing was written. Run the command again later.`);
    return EXIT.failed;
  } catch (error) {
    if (reading.isInterrupted()) {
      showMessage('Cancelled. Nothing was written.');
      return EXIT.interrupted;
    }
    const { code } = await reading.reportFailure(account.name, error);
    const fix = code === 'secret_missing' ? ' Set it in this shell with `export NAME=TOKEN`.' : '';
    showMessage(`error: the account could not be read, so nothing was written.${fix}`);
    return EXIT.failed;
  } finally {
    await reading.close();
  }
}

async function load(
  environment: Environment,
  draft: DraftFiles,
): Promise<{ configuration: Configuration; service: ServiceSettings; account: ConfiguredAccount }> {
  const configuration = await environment.loadDraft(draft);
  const { service, accounts, issues } = configuration;
  const [account] = accounts;
  if (service === undefined || account?.settings === undefined) throw new ConfigError(errorsOf(issues));
  return { configuration, service, account };
}

/** The account file with the lists and the pin. Throws ConfigError when it would not be valid. */
export async function completeAccountFile(
  environment: Environment,
  { draft, account, content: { observed, remoteAccountId } }: FirstReading,
): Promise<DumpedAccount> {
  const dumped = await environment.dumpDraft(draft, account, {
    accountId: remoteAccountId,
    names: {
      skill: observed.skill.map(({ name }) => name),
      role: observed.role.map(({ name }) => name),
    },
    policy: settingsOf(account).policy,
  });
  if (dumped.errors.length > 0) throw new ConfigError(dumped.errors);
  for (const note of dumped.notes) showMessage(`${account.name}: ${note}`);
  return dumped;
}
