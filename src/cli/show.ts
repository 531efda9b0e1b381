// rolecall show: one run from the journal. It reads the store and never calls the service.
import { StoreError } from '../core/errors.ts';
import { addReportOptions, type CommandContext, type CommandLine, reportDetail } from './command-line.ts';
import { openOutput, type OutputOptions } from './console.ts';
import { EXIT, type ExitStatus } from './exit-status.ts';
import { ACCOUNT_OF_LAST_HELP, findRun, RUN_HELP } from './find-run.ts';
import { withJournal } from './open-journal.ts';
import { requireKnown } from './select-accounts.ts';

interface ShowFlags extends OutputOptions {
  readonly account?: string;
  readonly verbose?: true;
}

export function addShow({ program, report }: CommandLine): void {
  addReportOptions(program.command('show'))
    .description('show one run: its plan, its operations and their results')
    .argument('<run>', RUN_HELP)
    .option('--account <name>', ACCOUNT_OF_LAST_HELP)
    .option('--verbose', 'show everything, shorten nothing')
    .action((wanted: string, flags: ShowFlags) =>
      report('show', flags, (context) => show(context, wanted, flags)),
    );
}

async function show(context: CommandContext, wanted: string, flags: ShowFlags): Promise<ExitStatus> {
  const detail = reportDetail(flags);
  const { renderRun } = await import('../report/run-report.ts');
  return await withJournal(context, async (reader, { accounts }) => {
    await requireKnown(flags.account, reader, accounts, 'show');
    const { id } = await findRun(reader, wanted, flags.account);
    const run = await reader.runReport(id);
    if (run === null) throw new StoreError('run_unknown', `run ${id} was deleted meanwhile`);
    const output = openOutput(flags);
    await output.print(renderRun(run, { ...output.render, ...detail }));
    await output.close();
    return EXIT.done;
  });
}
