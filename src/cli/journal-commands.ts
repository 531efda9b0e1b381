// rolecall history and show: they read the store and never call the service.
import { Option } from 'commander';
import { RUN_STATUSES, type RunStatus } from '../core/journal.ts';
import {
  ACCOUNTS_HELP,
  addDetailOptions,
  addReportOptions,
  type CommandLine,
  duration,
  positive,
} from './command-line.ts';
import type { JournalReader } from '../core/ports/journal-reader.ts';
import type { CommandContext } from './compose.ts';
import { type OutputOptions, printReport } from './console.ts';
import type { ExitStatus } from './exit-status.ts';
import type { ReportDetail } from '../report/document.ts';
import { findRunReport, RUN_HELP, withJournal } from './open-journal.ts';
import { type Loaded, knownAccounts, selectAccounts } from './load-accounts.ts';

interface HistoryFlags extends OutputOptions {
  readonly limit: number;
  /** In milliseconds. */
  readonly since?: number;
  readonly status?: RunStatus;
  readonly actions?: true;
  readonly lists?: true;
}

export function addHistory({ program, report }: CommandLine): void {
  addReportOptions(program.command('history'))
    .description('list the runs, newest first')
    .argument('[account...]', ACCOUNTS_HELP)
    .option('--limit <n>', 'maximum number of runs, actions or snapshots', positive, 20)
    .option('--since <duration>', 'only those newer than this, such as 24h or 7d', duration)
    .addOption(new Option('--status <status>', 'only runs with this status').choices(RUN_STATUSES))
    .addOption(new Option('--actions', 'list what operators did, instead of the runs').conflicts('status'))
    .addOption(
      new Option(
        '--lists',
        'list the stored lists of skills, roles and people, instead of the runs',
      ).conflicts(['status', 'actions', 'since']),
    )
    .action((names: string[], flags: HistoryFlags) =>
      report('history', flags, (context) => history(context, names, flags)),
    );
}

async function history(
  context: CommandContext,
  names: readonly string[],
  flags: HistoryFlags,
): Promise<ExitStatus> {
  const { renderActions, renderRuns, renderSnapshots } = await import('../report/list-reports.ts');
  const { limit, status } = flags;
  return await withJournal(context, async (reader, loaded) => {
    const filter = {
      limit,
      ...(await filterOf(names, reader, loaded)),
      ...(flags.since === undefined ? {} : { sinceMs: Date.now() - flags.since }),
    };
    if (flags.actions === true) {
      const actions = await reader.operatorActions(filter);
      await printReport(flags, (render) => renderActions(actions, { ...render, limit }));
      return;
    }
    if (flags.lists === true) {
      const snapshots = await reader.snapshots(filter);
      await printReport(flags, (render) => renderSnapshots(snapshots, { ...render, limit }));
      return;
    }
    const runs = await reader.runs({ ...filter, ...(status === undefined ? {} : { status }) });
    const tallies = await reader.runTallies(runs.map(({ id }) => id));
    await printReport(flags, (render) => renderRuns(runs, { ...render, limit }, tallies));
  });
}

/** Only the selected accounts; without arguments no filter, which reads the newest rows alone. */
async function filterOf(
  names: readonly string[],
  reader: Pick<JournalReader, 'accounts'>,
  { accounts }: Loaded,
): Promise<{ account?: readonly string[] }> {
  if (names.length === 0) return {};
  return { account: selectAccounts(await knownAccounts(reader, accounts), names).map(({ name }) => name) };
}

type ShowFlags = OutputOptions & ReportDetail;

export function addShow({ program, report }: CommandLine): void {
  addDetailOptions(addReportOptions(program.command('show')))
    .description('show one run: its plan, its operations and their results')
    .argument('<run>', RUN_HELP)
    .action((wanted: string, flags: ShowFlags) =>
      report('show', flags, (context) => show(context, wanted, flags)),
    );
}

async function show(context: CommandContext, wanted: string, flags: ShowFlags): Promise<ExitStatus> {
  const { renderRun } = await import('../report/run-report.ts');
  const { sourceDetail } = await import('./compose.ts');
  return await withJournal(context, async (reader, loaded) => {
    const run = await findRunReport(reader, wanted);
    const detail = { verbose: flags.verbose, ...(await sourceDetail(loaded)) };
    await printReport(flags, (render) => renderRun(run, { ...render, ...detail }));
  });
}
