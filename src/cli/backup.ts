// rolecall backup: a consistent copy of the store, also while the daemon runs.
import { ConfigError } from '../core/errors.ts';
import { count } from '../report/formatting.ts';
import { errorsOf, loadConfiguration } from './load-accounts.ts';
import type { CommandContext, CommandLine } from './command-line.ts';
import { printLine } from './console.ts';
import { EXIT, type ExitStatus } from './exit-status.ts';
import { showStep } from './progress.ts';

export function addBackup({ program, run }: CommandLine): void {
  program
    .command('backup')
    .description('copy the store, also while the daemon runs')
    .argument('<file>', 'target file; an earlier copy is replaced')
    .action((file: string) => run((context) => backup(context, file)));
}

async function backup({ configFile }: CommandContext, file: string): Promise<ExitStatus> {
  const { service, issues } = await loadConfiguration(configFile);
  if (service === undefined) throw new ConfigError(errorsOf(issues));
  const { backupStore } = await import('../store/backup-store.ts');
  const { openLocation } = await import('../config/store-location.ts');
  const location = await openLocation(service);
  const { bytes, runs } = await showStep('store', { text: 'copying' }, (observe) =>
    backupStore(location, file, (done, total) =>
      observe({ type: 'step', text: done === total ? 'checking the copy' : 'copying', done, total }),
    ),
  );
  printLine(`wrote ${file}: ${count(runs, 'run')}, ${count(bytes, 'byte')}`);
  return EXIT.done;
}
