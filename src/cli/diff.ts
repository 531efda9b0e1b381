// rolecall diff: what changed between two snapshots, or between one and now. Only `now` reads the service.
import type { ReadAccount } from '../run/read-account.ts';
import { catalogDifference, type Lists } from '../core/catalog-difference.ts';
import { StoreError, UsageError } from '../core/errors.ts';
import type { JournalReader } from '../core/ports/journal-reader.ts';
import type { SnapshotRecord } from '../core/snapshots.ts';
import type { ComparedLists } from '../report/diff-report.ts';
import {
  addReportOptions,
  addRetryAfterOption,
  type CommandContext,
  type CommandLine,
} from './command-line.ts';
import { openOutput, type OutputOptions } from './console.ts';
import type { RetryAfterOptions } from './compose.ts';
import { EXIT, type ExitStatus } from './exit-status.ts';
import { findCompared, parseCompared, refuseDifferentRemotes, type Side, SNAPSHOT_HELP } from './find-run.ts';
import type { Loaded } from './load-accounts.ts';
import { withJournal } from './open-journal.ts';
import { accountNamed, knownAccounts, onlyAccountNamed } from './select-accounts.ts';

interface DiffFlags extends OutputOptions, RetryAfterOptions {
  readonly account?: string;
}

export function addDiff({ program, report }: CommandLine): void {
  addRetryAfterOption(addReportOptions(program.command('diff')))
    .description('show what changed between two snapshots')
    .argument('<from>', SNAPSHOT_HELP)
    .argument('[to]', 'the same; default: `last`, the newest snapshot')
    .argument('[account]', 'name of the account, for `last` and times; may also follow <from>')
    .option('--account <name>', 'the same as the argument')
    .action((from: string, to: string | undefined, account: string | undefined, flags: DiffFlags) =>
      report('diff', flags, (context) => diff(context, [from, to, account], flags)),
    );
}

async function diff(
  context: CommandContext,
  args: Parameters<typeof parseCompared>[0],
  flags: DiffFlags,
): Promise<ExitStatus> {
  const parsed = parseCompared(args, Date.now());
  if (parsed.account !== undefined && flags.account !== undefined) {
    throw new UsageError('the account is given twice; leave out --account');
  }
  const wanted = { ...parsed, account: parsed.account ?? flags.account };
  const { renderDifference } = await import('../report/diff-report.ts');
  return await withJournal(context, async (reader, loaded) => {
    const known = await knownAccounts(reader, loaded.configuration.accounts);
    if (wanted.account !== undefined) onlyAccountNamed(known, wanted.account, 'diff');
    const { sides, account } = await findCompared(reader, wanted, known);
    const remoteIds = sides.map((side) => (side === 'now' ? null : side.remoteAccountId));
    const read = async (side: Side): Promise<[ComparedLists, Lists] | null> => {
      if (side !== 'now') return [side, await storedLists(reader, side)];
      const now = await readNow(context, loaded, account, flags);
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
  });
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
  { version }: CommandContext,
  { service, configuration }: Loaded,
  name: string,
  flags: RetryAfterOptions,
): Promise<ReadAccount | null> {
  const { openReading } = await import('./read-accounts.ts');
  const account = accountNamed(configuration.accounts, name);
  const reading = await openReading({ version, configuration, service }, flags);
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
