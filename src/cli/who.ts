// rolecall who: the people who have, or had, a skill or role, from the snapshots; without a name, those of every entry.
import { Option } from 'commander';
import { globMatcher } from '../core/names.ts';
import { firstFew } from '../core/amounts.ts';
import { KINDS } from '../core/catalog.ts';
import { StoreError, UsageError } from '../core/errors.ts';
import type { JournalReader, SentDelete } from '../core/ports/journal-reader.ts';
import { deletedEntries } from '../core/restoration.ts';
import { entryKey, entriesNamed, holdersOf, nearNames, accountUsage } from '../core/usage.ts';
import type { AccountUsage, AccountHolders, LostEntry } from '../core/command-schemas.ts';
import { ACCOUNTS_HELP, addReportOptions, type CommandLine, moment, MOMENT_HELP } from './command-line.ts';
import type { CommandContext } from './compose.ts';
import { type OutputOptions, printReport, showWarnings } from './console.ts';
import { type ExitStatus, combine, EXIT, failureExit } from './exit-status.ts';
import {
  isExclusion,
  type KnownAccount,
  knownAccounts,
  selectAccounts,
  loadAccounts,
} from './load-accounts.ts';
import { newestSnapshot, peopleBefore, withJournal } from './open-journal.ts';
import type { FailedPlan } from '../core/plan.ts';

interface WhoFlags extends OutputOptions {
  /** Epoch milliseconds. */
  readonly at?: number;
  readonly live?: true;
}

export function addWho({ program, report }: CommandLine): void {
  addReportOptions(program.command('who'))
    .description('list the people who have, or had, a skill or role; without a name, of every entry')
    .argument('[name]', 'exact name of the skill or role; left out, or an account: all entries')
    .argument('[account...]', ACCOUNTS_HELP)
    .option('--at <time>', `who had it then: ${MOMENT_HELP}`, moment)
    .addOption(new Option('--live', 'without a name: read the service').conflicts('at'))
    .action(report(who));
}

/** Whether the first argument selects accounts, so that no name is given. */
function selectsAccounts(name: string, accounts: readonly { readonly name: string }[]): boolean {
  const matches = globMatcher(name);
  return isExclusion(name) || accounts.some((account) => account.name === name || matches(account.name));
}

async function who(
  context: CommandContext,
  name: string | undefined,
  accounts: readonly string[],
  flags: WhoFlags,
): Promise<ExitStatus> {
  const names = name === undefined ? [] : [name, ...accounts];
  if (flags.live === true) return await liveCoverage(context, names, flags);
  return await withJournal(context, async (reader, { configuration }) => {
    const known = await knownAccounts(reader, configuration.accounts);
    if (name !== undefined && !selectsAccounts(name, known)) {
      await search(reader, known, name, { ...flags, accounts });
      return;
    }
    if (flags.at !== undefined) throw new UsageError('--at needs the name of a skill or role');
    await storedCoverage(reader, selectAccounts(known, names), flags);
  });
}

async function search(
  reader: JournalReader,
  known: readonly KnownAccount[],
  name: string,
  flags: WhoFlags & { readonly accounts: readonly string[] },
): Promise<void> {
  const { renderWho } = await import('../report/who-report.ts');
  const nowMs = Date.now();
  const untilMs = flags.at;
  if (untilMs !== undefined && untilMs > nowMs)
    throw new UsageError('--at is in the future; use a date until today');
  const wanted: Search = { name, untilMs };
  const sent = await reader.deletesNamed(name);
  const holders: AccountHolders[] = [];
  for (const { name: account } of selectAccounts(known, flags.accounts)) {
    const found = await holdersIn(reader, account, wanted);
    const own = sent.filter((each) => each.account === account);
    holders.push({ ...found, deleted: await lastDeletes(reader, own, found, wanted) });
  }
  const isFound = holders.some(({ entries, deleted }) => entries.length + deleted.length > 0);
  const at = untilMs === undefined ? null : new Date(untilMs).toISOString();
  if (isFound || flags.format === 'json')
    await printReport(flags, (render) => renderWho({ name, at, nowMs, accounts: holders }, render));
  if (!isFound) throw notFound(wanted, holders);
  showWarnings(missingSnapshots(wanted, holders));
}

interface Search {
  readonly name: string;
  readonly untilMs: number | undefined;
}

type Found = Omit<AccountHolders, 'deleted'>;

/** The last delete of each kind, unless the lists show the entry still or again. */
async function lastDeletes(
  reader: JournalReader,
  sent: readonly SentDelete[],
  { entries }: Found,
  { untilMs = Infinity }: Search,
): Promise<LostEntry[]> {
  const listed = new Set(entries.map(({ kind, remoteId }) => entryKey(kind, remoteId)));
  const lost: LostEntry[] = [];
  for (const kind of KINDS) {
    const last = sent.find((each) => each.kind === kind && Date.parse(each.startedAt) <= untilMs);
    const detail = last === undefined ? null : await reader.runReport(last.runId);
    const operation = detail?.operations.find(({ seq }) => seq === last?.seq);
    if (detail === null || operation === undefined) continue;
    if (operation.remoteId !== null && listed.has(entryKey(kind, operation.remoteId))) continue;
    const people = await peopleBefore(reader, detail.run.id);
    const [entry] = deletedEntries({
      detail: { ...detail, operations: [operation] },
      people,
      later: null,
      desired: null,
    });
    if (entry !== undefined) lost.push({ ...entry, runId: detail.run.id, deletedAt: operation.finishedAt });
  }
  return lost;
}

async function holdersIn(reader: JournalReader, account: string, search: Search): Promise<Found> {
  const { name, untilMs } = search;
  const snapshot = await newestSnapshot(reader, {
    account,
    isGood: true,
    ...(untilMs === undefined ? {} : { untilMs }),
  });
  const lists = snapshot === null ? null : await reader.snapshotEntries(snapshot);
  if (snapshot === null || lists === null) return { account, snapshot: null, entries: [], near: [] };
  const near = nearNames(name, lists, KINDS);
  const named = entriesNamed(name, lists, KINDS);
  // The list of people is the longest one, and most accounts do not need it.
  if (named.length === 0) return { account, snapshot, entries: [], near };
  const people = await reader.snapshotPeople(snapshot);
  return people === null
    ? { account, snapshot: null, entries: [], near }
    : { account, snapshot, entries: holdersOf(named, people), near };
}

/** Shows what was searched, and a near name that may be intended. */
function notFound(search: Search, holders: readonly Found[]): StoreError {
  const { name, untilMs } = search;
  const quoted = JSON.stringify(name);
  const searched = holders.filter(({ snapshot }) => snapshot !== null);
  const missing = missingSnapshots(search, holders);
  if (searched.length === 0) {
    const has = untilMs === undefined ? 'has' : 'had';
    return new StoreError('snapshot_unknown', `it is not known who ${has} ${quoted}: ${missing.join('; ')}`);
  }
  const near = searched.flatMap((each) => each.near)[0];
  const hint = near === undefined ? '' : `. Did you mean ${JSON.stringify(near.name)}?`;
  const where = `no skill or role is named ${quoted} in the last good snapshots of ${some(searched)}`;
  return new StoreError('entry_unknown', `${[where, ...missing].join('; ')}${hint}`);
}

const MOST_NAMED = 5;

function some(accounts: readonly { readonly account: string }[]): string {
  return firstFew(
    accounts.map(({ account }) => account),
    MOST_NAMED,
  );
}

function missingSnapshots({ untilMs }: Search, holders: readonly Found[]): string[] {
  const missing = holders.filter(({ snapshot }) => snapshot === null);
  return missing.length === 0
    ? []
    : [`no snapshot${untilMs === undefined ? '' : ' of that time'} is stored of ${some(missing)}`];
}

/** From the last good lists of these accounts. Throws StoreError when an account has none. */
async function storedCoverage(
  reader: JournalReader,
  accounts: readonly KnownAccount[],
  options: OutputOptions,
): Promise<void> {
  const usages: AccountUsage[] = [];
  for (const { name: account } of accounts) {
    const snapshot = await newestSnapshot(reader, { account, isGood: true });
    const entries = snapshot && (await reader.snapshotEntries(snapshot));
    const resources = snapshot && (await reader.snapshotPeople(snapshot));
    if (entries === null || resources === null || snapshot === null) {
      throw new StoreError(
        'snapshot_unknown',
        `no good lists of ${account} are stored; run \`rolecall plan ${account}\`, or use --live`,
      );
    }
    usages.push(accountUsage(account, { ...entries, resources }, snapshot.takenAt));
  }
  const { renderCoverage } = await import('../report/who-report.ts');
  await printReport(options, (render) => renderCoverage(usages, render));
}

/** From the service, which is read now. */
async function liveCoverage(
  context: CommandContext,
  names: readonly string[],
  options: OutputOptions,
): Promise<ExitStatus> {
  const { openReading } = await import('./read-accounts.ts');
  const loaded = await loadAccounts(context.configFile);
  const accounts = selectAccounts(loaded.accounts, names);
  const reading = await openReading(context, loaded);
  try {
    const exits: ExitStatus[] = [];
    const usages = await reading.readEach(
      accounts,
      async ({ name: account }, read): Promise<AccountUsage | FailedPlan> => {
        try {
          const { observed } = await read();
          return accountUsage(account, observed, new Date().toISOString());
        } catch (error) {
          const failure = reading.reportFailure(account, error);
          exits.push(failureExit(failure.code));
          return { schemaVersion: 1, account, status: 'failed', error: failure };
        }
      },
    );
    const { renderCoverage } = await import('../report/who-report.ts');
    await printReport(options, (render) => renderCoverage(usages, render));
    return reading.isInterrupted() ? EXIT.interrupted : combine(exits);
  } finally {
    await reading.close();
  }
}
