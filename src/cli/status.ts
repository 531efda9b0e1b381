// rolecall status: one line for each account, from the store. Never calls the service.
import { ACCOUNTS_HELP, addReportOptions, type CommandLine } from './command-line.ts';
import type { CommandContext } from './compose.ts';
import { openOutput, type OutputOptions, printReport } from './console.ts';
import { UsageError } from '../core/errors.ts';
import { EXIT, type ExitStatus } from './exit-status.ts';
import { loadForStore } from './load-accounts.ts';

interface StatusFlags extends OutputOptions {
  readonly watch?: true;
}

export function addStatus({ program, report }: CommandLine): void {
  addReportOptions(program.command('status'))
    .description('show the state of each account, its last and its next run')
    .argument('[account...]', ACCOUNTS_HELP)
    .option('--watch', 'show it again every 2 s; not on a terminal: whenever an account changes')
    .action((names: string[], flags: StatusFlags) =>
      report('status', flags, (context) => status(context, names, flags)),
    );
}

async function status(
  context: CommandContext,
  names: readonly string[],
  flags: StatusFlags,
): Promise<ExitStatus> {
  if (flags.watch === true) {
    if (flags.output !== undefined)
      throw new UsageError('--watch prints to stdout without an end; leave out --output');
    const { watchStatuses } = await import('./account-statuses.ts');
    return await watchStatuses(context, names, openOutput(flags));
  }
  const { readStatuses } = await import('./account-statuses.ts');
  const { renderStatus } = await import('../report/list-reports.ts');
  const nowMs = Date.now();
  const configuration = await loadForStore(context.configFile);
  const accounts = await readStatuses(configuration, names, nowMs);
  await printReport(flags, (render) => renderStatus(accounts, nowMs, render));
  return EXIT.done;
}
