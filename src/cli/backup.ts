// rolecall backup: a consistent copy of the store, also while the daemon runs.
import { ConfigError } from '../core/errors.ts';
import { count } from '../report/formatting.ts';
import { errorsOf } from './accounts.ts';
import { printLine } from './console.ts';
import type { Environment } from './environment.ts';
import type { ExitStatus } from './exit-status.ts';
import { EXIT } from './exit-status.ts';

export async function backup(
  environment: Environment,
  configFile: string,
  file: string,
): Promise<ExitStatus> {
  const { service, issues } = await environment.loadConfiguration(configFile);
  if (service === undefined) throw new ConfigError(errorsOf(issues));
  const { bytes, runs } = await environment.backupStore(service, file);
  printLine(`wrote ${file}: ${count(runs, 'run')}, ${count(bytes, 'byte')}`);
  return EXIT.done;
}
