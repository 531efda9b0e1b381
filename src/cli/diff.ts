// rolecall diff: what changed between two snapshots, or between one and now. Only `now` reads the service.
import type { ReadAccount } from '../app/read-account.ts';
import { catalogDifference, type Lists } from '../core/catalog-difference.ts';
import { StoreError } from '../core/errors.ts';
import type { JournalReader } from '../core/journal-reader.ts';
import type { Configuration, ServiceSettings } from '../core/settings.ts';
import type { SnapshotRecord } from '../core/snapshots.ts';
import type { ComparedLists } from '../report/diff-report.ts';
import {
  addReportOptions,
  addRetryAfterOption,
  type CommandContext,
  type CommandLine,
} from './command-line.ts';
import { openOutput, type OutputOptions } from './console.ts';
import type { Environment, RetryAfterOptions } from './environment.ts';
import { EXIT, type ExitStatus } from './exit-status.ts';
import {
  findCompared,
  refuseDifferentRemotes,
  refuseNowAlone,
  type Side,
  SNAPSHOT_HELP,
} from './find-snapshot.ts';
import { loadForStore } from './load-accounts.ts';
import { accountNamed } from './select-accounts.ts';

interface DiffFlags extends OutputOptions, RetryAfterOptions {
  readonly account?: string;
}

export function addDiff({ program, report }: CommandLine): void {
  addRetryAfterOption(addReportOptions(program.command('diff')))
    .description('show what changed between two snapshots: entries, and what people have')
    .argument('<from>', SNAPSHOT_HELP)
    .argument('<to>', SNAPSHOT_HELP)
    .option('--account <name>', 'with `last`: the newest snapshot of this account')
    .action((first: string, second: string, flags: DiffFlags) =>
      report('diff', flags, (context) => diff(context, [first, second], flags)),
    );
}

async function diff(
  { environment, configFile }: CommandContext,
  wanted: readonly [string, string],
  flags: DiffFlags,
): Promise<ExitStatus> {
  refuseNowAlone(wanted);
  const { renderDifference } = await import('../report/diff-report.ts');
  const { service, configuration } = await loadForStore(environment, configFile);
  const journal = await environment.openJournal(service);
  try {
    const { sides, account } = await findCompared(journal.reader, wanted, flags.account);
    const remoteIds = sides.map((side) => (side === 'now' ? null : side.remoteAccountId));
    const read = async (side: Side): Promise<[ComparedLists, Lists] | null> => {
      if (side !== 'now') return [side, await storedLists(journal.reader, side)];
      const now = await readNow(environment, { service, configuration }, account, flags);
      if (now === null) return null;
      refuseDifferentRemotes([...remoteIds, now.remoteAccountId]);
      return [{ takenAt: new Date().toISOString(), id: null, runId: null, phase: null }, now.observed];
    };
    const first = await read(sides[0]);
    const second = await read(sides[1]);
    if (first === null || second === null) return EXIT.interrupted;
    const [before, earlier] = first;
    const [after, later] = second;
    const output = openOutput(flags);
    const difference = catalogDifference(earlier, later);
    await output.print(renderDifference({ account, before, after, ...difference }, output.render));
    await output.close();
    return EXIT.done;
  } finally {
    await journal.close();
  }
}

async function storedLists(reader: JournalReader, snapshot: SnapshotRecord): Promise<Lists> {
  const entries = await reader.snapshotEntries(snapshot);
  const resources = await reader.snapshotPeople(snapshot);
  if (entries !== null && resources !== null) return { ...entries, resources };
  throw new StoreError(
    'snapshot_pruned',
    `the lists of snapshot ${snapshot.id} are no longer stored; run \`rolecall snapshots ${snapshot.account}\` to list the snapshots`,
  );
}

/** The lists of the account as the service shows them now, with the identity checks of a run. null after a signal. */
async function readNow(
  environment: Environment,
  { service, configuration }: { readonly service: ServiceSettings; readonly configuration: Configuration },
  name: string,
  flags: RetryAfterOptions,
): Promise<ReadAccount | null> {
  const { openReading } = await import('./read-accounts.ts');
  const account = accountNamed(configuration.accounts, name);
  const reading = await openReading({ environment, configuration, service }, flags);
  try {
    return await reading.read(account);
  } catch (error) {
    await reading.noteFailure(name, error);
    if (reading.isInterrupted()) return null;
    throw error;
  } finally {
    await reading.close();
  }
}
