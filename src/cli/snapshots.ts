// rolecall snapshots: lists the stored snapshots. It reads the store and never calls the service.
import { addReportOptions, type CommandContext, type CommandLine } from './command-line.ts';
import { openOutput, type OutputOptions } from './console.ts';
import { EXIT, type ExitStatus } from './exit-status.ts';
import { positive } from './option-values.ts';
import { printedIds, withJournal } from './open-journal.ts';
import { requireKnown } from './select-accounts.ts';

interface SnapshotsFlags extends OutputOptions {
  readonly limit: number;
}

export function addSnapshots({ program, report }: CommandLine): void {
  addReportOptions(program.command('snapshots'))
    .description('list the stored lists of skills, roles and people')
    .argument('[account]', 'name of the account; default: all accounts')
    .option('--limit <n>', 'maximum number of snapshots', positive, 20)
    .action((account: string | undefined, flags: SnapshotsFlags) =>
      report('snapshots', flags, (context) => snapshots(context, account, flags)),
    );
}

async function snapshots(
  context: CommandContext,
  account: string | undefined,
  flags: SnapshotsFlags,
): Promise<ExitStatus> {
  const { renderSnapshots } = await import('../report/snapshots-report.ts');
  return await withJournal(context, async (reader, { accounts }) => {
    await requireKnown(account, reader, accounts, 'snapshots');
    const found = await reader.snapshots({
      limit: flags.limit,
      ...(account === undefined ? {} : { account }),
    });
    const output = openOutput(flags);
    const ids = await printedIds(
      reader,
      found.map(({ runId }) => runId),
      output,
    );
    await output.print(renderSnapshots(found, output.render, ids));
    await output.close();
    return EXIT.done;
  });
}
