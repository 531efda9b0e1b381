// rolecall show: one run from the journal. It reads the store and never calls the service.
import type { JournalReader } from '../core/journal-reader.ts';
import { loadAccounts } from './load-accounts.ts';
import { addReportOptions, type CommandContext, type CommandLine } from './command-line.ts';
import { openOutput, type OutputOptions, showMessage } from './console.ts';
import { EXIT, type ExitStatus } from './exit-status.ts';
import { reportDetail } from './report-detail.ts';

interface ShowFlags extends OutputOptions {
  readonly verbose?: true;
}

export function addShow({ program, report }: CommandLine): void {
  addReportOptions(program.command('show'))
    .description('show one run: its plan, its operations and their results')
    .argument('<run>', 'id of the run, the beginning of the id, or `last`')
    .option('--verbose', 'show everything, shorten nothing')
    .action((runId: string, flags: ShowFlags) =>
      report('show', flags, (context) => show(context, runId, flags)),
    );
}

async function show(
  { environment, configFile }: CommandContext,
  runId: string,
  options: ShowFlags,
): Promise<ExitStatus> {
  const detail = reportDetail(options);
  const { renderRun } = await import('../report/run-report.ts');
  const { service } = await loadAccounts(environment, configFile, []);
  const journal = await environment.openJournal(service);
  try {
    const id = await findRun(journal.reader, runId);
    const run = id === null ? null : await journal.reader.run(id);
    if (run === null) return EXIT.failed;
    const output = openOutput(options);
    await output.print(renderRun(run, { ...output.render, ...detail }));
    await output.close();
    return EXIT.done;
  } finally {
    await journal.close();
  }
}

/** The most runs that are listed for an ambiguous id. */
const MOST_LISTED = 20;

/** The id of the requested run: an id, an unambiguous beginning of one, or `last`. Shows an error and returns null if none fits. */
async function findRun(reader: JournalReader, wanted: string): Promise<string | null> {
  const runs =
    wanted === 'last'
      ? await reader.runs({ limit: 1 })
      : await reader.runsBeginning(wanted.toLowerCase(), MOST_LISTED + 1);
  const [run, ...others] = runs;
  const shown = JSON.stringify(wanted);
  if (run === undefined) {
    showMessage(
      wanted === 'last'
        ? 'error: no run is stored yet'
        : `error: no run has an id that begins with ${shown}; run \`rolecall history\` to list the runs`,
    );
    return null;
  }
  if (others.length === 0 || run.id === wanted) return run.id;
  const rows = runs
    .slice(0, MOST_LISTED)
    .map((each) => `  ${each.id}  ${each.account}  ${each.status}  ${each.startedAt}`);
  const rest = runs.length > MOST_LISTED ? ['  … and more'] : [];
  showMessage(
    [
      `error: several runs have an id that begins with ${shown}; use more characters of the id (\`rolecall history\` lists all runs):`,
      ...rows,
      ...rest,
    ].join('\n'),
  );
  return null;
}
