// rolecall restore: what a run deleted, and who had it. It reads the store and never calls the service.
import { shownPath } from '../config/yaml/source-text.ts';
import type { JournalReader, RunDetail, SnapshotRecord } from '../core/ports/journal-reader.ts';
import type { RunRecord } from '../core/journal.ts';
import { deletedEntries } from '../core/restoration.ts';
import type { ConfiguredAccount } from '../core/settings.ts';
import { type Format, FORMATS } from '../report/document.ts';
import type { Restoration } from '../report/restore-report.ts';
import { addReportOptions, type CommandLine } from './command-line.ts';
import type { CommandContext } from './compose.ts';
import { type OutputOptions, printReport } from './console.ts';
import type { ExitStatus } from './exit-status.ts';
import { findRunReport, newestSnapshot, peopleBefore, RUN_HELP, withJournal } from './open-journal.ts';

interface RestoreFlags extends Omit<OutputOptions, 'format'> {
  readonly format: Format | 'csv';
}

export function addRestore({ program, report }: CommandLine): void {
  addReportOptions(program.command('restore'), [...FORMATS, 'csv'])
    .description('print what a run deleted, and who had it')
    .argument('<run>', RUN_HELP)
    .action((wanted: string, flags: RestoreFlags) =>
      report('restore', reportOptions(flags), (context) => restore(context, wanted, flags)),
    );
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
