// rolecall history, show, diff and restore: what the store knows. Only `diff … now` reads the service.
import { Option } from 'commander';
import { RUN_STATUSES, type RunStatus } from '../core/journal.ts';
import type { RunRecord } from '../core/schemas.ts';
import {
  ACCOUNTS_HELP,
  addDetailOptions,
  addReportOptions,
  type CommandLine,
  duration,
  positive,
} from './command-line.ts';
import type { JournalReader, RunDetail } from '../core/ports/journal-reader.ts';
import type { SnapshotRecord } from '../core/command-schemas.ts';
import type { CommandContext } from './compose.ts';
import { type OutputOptions, printReport } from './console.ts';
import { type ExitStatus, EXIT } from './exit-status.ts';
import { type ReportDetail, type Format, FORMATS } from '../report/document.ts';
import {
  findRunReport,
  RUN_HELP,
  withJournal,
  findCompared,
  parsePlace,
  refuseDifferentRemotes,
  type Side,
  SNAPSHOT_HELP,
  newestSnapshot,
  peopleBefore,
} from './open-journal.ts';
import { type Loaded, knownAccounts, selectAccounts, accountNamed } from './load-accounts.ts';
import type { ReadAccount } from '../run/observe.ts';
import type { ComparedLists, Lists } from '../core/catalog-difference.ts';
import { StoreError, UsageError } from '../core/errors.ts';

import { shownPath } from '../config/yaml/source-text.ts';
import { deletedEntries } from '../core/restoration.ts';
import type { ConfiguredAccount } from '../core/settings.ts';
import type { Restoration } from '../report/restore-report.ts';

interface HistoryFlags extends OutputOptions {
  readonly limit: number;
  /** In milliseconds. */
  readonly since?: number;
  readonly status?: RunStatus;
  readonly changed?: true;
  readonly actions?: true;
  readonly lists?: true;
}

/** The options that select runs by what they did. */
const OF_RUNS = ['status', 'changed'];

export function addHistory({ program, report }: CommandLine): void {
  addReportOptions(program.command('history'))
    .description('list the runs, newest first')
    .argument('[account...]', ACCOUNTS_HELP)
    .option('--limit <n>', 'maximum number of runs, actions or snapshots', positive, 20)
    .option('--since <duration>', 'only those newer than this, such as 24h or 7d', duration)
    .addOption(new Option('--status <status>', 'only runs with this status').choices(RUN_STATUSES))
    .option('--changed', 'only runs that created or deleted something')
    .addOption(new Option('--actions', 'list what operators did, instead of the runs').conflicts(OF_RUNS))
    .addOption(
      new Option(
        '--lists',
        'list the stored lists of skills, roles and people, instead of the runs',
      ).conflicts([...OF_RUNS, 'actions', 'since']),
    )
    .action(report(history));
}

async function history(
  context: CommandContext,
  names: readonly string[],
  flags: HistoryFlags,
): Promise<ExitStatus> {
  const { renderActions, renderRuns, renderSnapshots } = await import('../report/list-reports.ts');
  const { limit, status, changed } = flags;
  return await withJournal(context, async (reader, loaded) => {
    const since = flags.since === undefined ? {} : { sinceMs: Date.now() - flags.since };
    const filter = { limit, ...(await filterOf(names, reader, loaded)), ...since };
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
    const runs = await reader.runs({ ...filter, ...(status && { status }), ...(changed && { changed }) });
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
    .action(report(show));
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

export function addDiff({ program, report }: CommandLine): void {
  addReportOptions(program.command('diff'))
    .description('show what changed between two snapshots')
    .argument('<from>', SNAPSHOT_HELP)
    .argument('<to>', 'the same')
    .argument('[account]', 'name of the account, for `last` and times')
    .action(report(diff));
}

async function diff(
  context: CommandContext,
  ...[from, to, given, flags]: [string, string, string | undefined, OutputOptions]
): Promise<ExitStatus> {
  const nowMs = Date.now();
  const places = [parsePlace(from, nowMs), parsePlace(to, nowMs)] as const;
  if (from === 'now' && to === 'now') throw new UsageError('`diff now now` compares nothing');
  const { renderDifference } = await import('../report/diff-report.ts');
  const { catalogDifference } = await import('../core/catalog-difference.ts');
  return await withJournal(context, async (reader, loaded) => {
    const known = await knownAccounts(reader, loaded.configuration.accounts);
    if (given !== undefined) accountNamed(known, given);
    const { sides, account } = await findCompared(reader, places, given, known);
    const remoteIds = sides.map((side) => (side === 'now' ? null : side.remoteAccountId));
    const read = async (side: Side): Promise<[ComparedLists, Lists] | null> => {
      if (side !== 'now') return [side, await storedLists(reader, side)];
      const now = await readNow(context, loaded, account);
      if (now === null) return null;
      refuseDifferentRemotes([...remoteIds, now.remoteAccountId]);
      return [{ takenAt: new Date().toISOString(), id: null, runId: null, phase: null }, now.observed];
    };
    const first = await read(sides[0]);
    const second = await read(sides[1]);
    if (first === null || second === null) return EXIT.interrupted;
    const [before, earlier] = first;
    const [after, later] = second;
    const difference = catalogDifference(earlier, later);
    await printReport(flags, (render) => renderDifference({ account, before, after, ...difference }, render));
  });
}

async function storedLists(reader: JournalReader, snapshot: SnapshotRecord): Promise<Lists> {
  const entries = await reader.snapshotEntries(snapshot);
  const resources = await reader.snapshotPeople(snapshot);
  if (entries !== null && resources !== null) return { ...entries, resources };
  throw new StoreError(
    'snapshot_pruned',
    `the lists of snapshot ${snapshot.id} are no longer stored; run \`rolecall history --lists ${snapshot.account}\` to list the snapshots`,
  );
}

/** The lists of the account as the service shows them now, with the identity checks of a run. null after a signal. */
async function readNow(context: CommandContext, loaded: Loaded, name: string): Promise<ReadAccount | null> {
  const { openReading } = await import('./read-accounts.ts');
  const account = accountNamed(loaded.configuration.accounts, name);
  const reading = await openReading(context, loaded);
  try {
    return await reading.read(account);
  } catch (error) {
    if (reading.isInterrupted()) return null;
    throw error;
  } finally {
    await reading.close();
  }
}

interface RestoreFlags extends Omit<OutputOptions, 'format'> {
  readonly format: Format | 'csv';
}

export function addRestore({ program, report }: CommandLine): void {
  addReportOptions(program.command('restore'), [...FORMATS, 'csv'])
    .description('print what a run deleted, and who had it')
    .argument('<run>', RUN_HELP)
    .action(report(restore));
}

/** CSV is printed by this command alone; for the output it is text. */
function reportOptions({ format, output }: RestoreFlags): OutputOptions {
  return { format: format === 'csv' ? 'text' : format, output };
}

async function restore(context: CommandContext, wanted: string, flags: RestoreFlags): Promise<ExitStatus> {
  const { renderRestoration, restorationCsv } = await import('../report/restore-report.ts');
  return await withJournal(context, async (reader, { configuration }) => {
    const found = await findRunReport(reader, wanted);
    const isEmpty = wanted === 'last' && found.run.status !== 'running' && found.run.deleted === 0;
    const [deleting] = isEmpty ? await reader.runs({ hasDeletes: true, limit: 1 }) : [];
    const detail = deleting === undefined ? found : await findRunReport(reader, deleting.id);
    const account = configuration.accounts.find(({ name }) => name === detail.run.account);
    const restoration = await readRestoration(reader, detail, account);
    await printReport(reportOptions(flags), (render) =>
      flags.format === 'csv' ? restorationCsv(restoration) : renderRestoration(restoration, render),
    );
  });
}

async function readRestoration(
  reader: JournalReader,
  detail: RunDetail,
  account: ConfiguredAccount | undefined,
): Promise<Restoration> {
  const { id, account: name } = detail.run;
  const own = await reader.snapshots({ runId: id, limit: 2 });
  const later = await listsAfter(reader, detail.run, own);
  const entries = deletedEntries({
    detail,
    people: await peopleBefore(reader, id),
    later: later === null ? null : await reader.snapshotEntries(later),
    desired: account?.settings?.desired ?? null,
  });
  const [earlier] =
    entries.length === 0 ? await reader.runs({ account: name, hasDeletes: true, limit: 1 }) : [];
  return {
    run: detail.run,
    file: account === undefined ? null : shownPath(account.file),
    entries,
    listedAt: later?.takenAt ?? null,
    earlierRunId: earlier?.id ?? null,
  };
}

/** The newest lists that were read after the run had deleted: its own last ones, or those of a later run. */
async function listsAfter(
  reader: JournalReader,
  { account, finishedAt }: RunRecord,
  own: readonly SnapshotRecord[],
): Promise<SnapshotRecord | null> {
  const newest = await newestSnapshot(reader, { account, isGood: true });
  if (newest === null) return null;
  const isOwn = own.some(({ id, phase }) => id === newest.id && phase === 'after');
  return isOwn || (finishedAt !== null && newest.takenAt >= finishedAt) ? newest : null;
}
