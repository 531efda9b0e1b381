// rolecall history: lists the runs in the journal. It reads the store and never calls the service.
import { Option } from 'commander';
import { RUN_STATUSES, type RunStatus } from '../core/journal.ts';
import { addReportOptions, type CommandContext, type CommandLine } from './command-line.ts';
import { openOutput, type OutputOptions } from './console.ts';
import { EXIT, type ExitStatus } from './exit-status.ts';
import { duration, positive } from './option-values.ts';
import { printedIds, withJournal } from './open-journal.ts';
import { requireKnown } from './select-accounts.ts';

interface HistoryFlags extends OutputOptions {
  readonly limit: number;
  /** In milliseconds. */
  readonly since?: number;
  readonly status?: RunStatus;
}

export function addHistory({ program, report }: CommandLine): void {
  addReportOptions(program.command('history'))
    .description('list the runs, newest first')
    .argument('[account]', 'name of the account; default: all accounts')
    .option('--limit <n>', 'maximum number of runs', positive, 20)
    .option('--since <duration>', 'only runs newer than this, such as 24h or 7d', duration)
    .addOption(new Option('--status <status>', 'only runs with this status').choices(RUN_STATUSES))
    .action((account: string | undefined, flags: HistoryFlags) =>
      report('history', flags, (context) => history(context, account, flags)),
    );
}

async function history(
  context: CommandContext,
  account: string | undefined,
  flags: HistoryFlags,
): Promise<ExitStatus> {
  const { renderRuns } = await import('../report/history-report.ts');
  const { status } = flags;
  return await withJournal(context, async (reader, { accounts }) => {
    await requireKnown(account, reader, accounts, 'history');
    const runs = await reader.runs({
      limit: flags.limit,
      ...(account === undefined ? {} : { account }),
      ...(status === undefined ? {} : { status }),
      ...(flags.since === undefined ? {} : { sinceMs: Date.now() - flags.since }),
    });
    const output = openOutput(flags);
    const ids = runs.map(({ id }) => id);
    const tallies = await reader.runTallies(ids);
    const shortIds = await printedIds(reader, ids, output);
    await output.print(renderRuns(runs, output.render, { tallies, shortIds }));
    await output.close();
    return EXIT.done;
  });
}
