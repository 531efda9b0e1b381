// rolecall diff: what changed between two snapshots, or between one and now. Only `now` reads the service.
import type { ReadAccount } from '../run/observe.ts';
import { catalogDifference, type Lists } from '../core/catalog-difference.ts';
import { StoreError, UsageError } from '../core/errors.ts';
import type { JournalReader, SnapshotRecord } from '../core/ports/journal-reader.ts';
import type { ComparedLists } from '../report/snapshot-schemas.ts';
import { addReportOptions, type CommandLine } from './command-line.ts';
import type { CommandContext } from './compose.ts';
import { type OutputOptions, printReport } from './console.ts';
import { EXIT, type ExitStatus } from './exit-status.ts';
import { accountNamed, knownAccounts, type Loaded } from './load-accounts.ts';
import {
  findCompared,
  parsePlace,
  refuseDifferentRemotes,
  type Side,
  SNAPSHOT_HELP,
  withJournal,
} from './open-journal.ts';

export function addDiff({ program, report }: CommandLine): void {
  addReportOptions(program.command('diff'))
    .description('show what changed between two snapshots')
    .argument('<from>', SNAPSHOT_HELP)
    .argument('<to>', 'the same')
    .argument('[account]', 'name of the account, for `last` and times')
    .action((from: string, to: string, account: string | undefined, flags: OutputOptions) =>
      report('diff', flags, (context) => diff(context, [from, to], account, flags)),
    );
}

async function diff(
  context: CommandContext,
  [from, to]: readonly [string, string],
  given: string | undefined,
  flags: OutputOptions,
): Promise<ExitStatus> {
  const nowMs = Date.now();
  const places = [parsePlace(from, nowMs), parsePlace(to, nowMs)] as const;
  if (from === 'now' && to === 'now') throw new UsageError('`diff now now` compares nothing');
  const { renderDifference } = await import('../report/diff-report.ts');
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
