// rolecall pause, resume and sync: pass an operator’s decision to the daemon through the store that both share.
import { ConfigError, UsageError, errorsOf } from '../core/errors.ts';
import {
  describePause,
  isPauseReason,
  type Operator,
  type OperatorCommands,
  pausedError,
  REASON_TOO_LONG,
} from '../core/operator.ts';
import type { JournalReader } from '../core/ports/journal-reader.ts';
import { type CommandLine, duration, SOME_ACCOUNTS_HELP } from './command-line.ts';
import type { CommandContext } from './compose.ts';
import { printLine, showWarnings } from './console.ts';
import { EXIT, type ExitStatus } from './exit-status.ts';
import {
  type KnownAccount,
  knownAccounts,
  loadConfiguration,
  selectAccounts,
  withoutAccounts,
} from './load-accounts.ts';
import { userAtHost } from '../system/runtime.ts';

export function addPause({ program, run }: CommandLine): void {
  program
    .command('pause')
    .description('stop the scheduled runs of accounts, or all creates and deletes')
    .argument('[account...]', SOME_ACCOUNTS_HELP)
    .option('--reason <text>', 'why, for `rolecall status` and the pages; required with --all')
    .option('--all', 'stop creates and deletes of all accounts, also in runs under way and in `apply`')
    .option('--deletes', 'with --all: stop deletes only')
    .option(
      '--for <duration>',
      'with --all: until then, such as 30m or 2h; default: until `resume --all`',
      duration,
    )
    .action(run(pause));
}

export function addResume({ program, run }: CommandLine): void {
  program
    .command('resume')
    .description('restart the scheduled runs of accounts, or end the pause of all')
    .argument('[account...]', SOME_ACCOUNTS_HELP)
    .option('--all', 'end the pause of all accounts; accounts that were paused by name stay paused')
    .action(run(resume));
}

export function addSync({ program, run }: CommandLine): void {
  program
    .command('sync')
    .description('let the daemon run accounts now, also paused ones')
    .argument('<account...>', SOME_ACCOUNTS_HELP)
    .action(run(sync));
}

interface PauseFlags {
  readonly reason?: string;
  readonly all?: boolean;
  readonly deletes?: boolean;
  /** In milliseconds. */
  readonly for?: number | null;
}

/** Whether the command is about all accounts, instead of named ones. Throws UsageError. */
function isOfAll(
  names: readonly string[],
  { all = false, deletes = false, for: forMs = null }: PauseFlags,
): boolean {
  if (all === names.length > 0)
    throw new UsageError(all ? '--all and names cannot be used together' : 'name accounts, or use --all');
  if (all || (!deletes && forMs === null)) return all;
  throw new UsageError(
    '--deletes and --for need --all: named accounts are paused until `rolecall resume NAME`, with creates and deletes',
  );
}

/** Stops deletes, or creates and deletes, of all accounts. */
async function pauseAll(
  context: CommandContext,
  { reason = '', deletes: onlyDeletes = false, for: forMs = null }: PauseFlags,
): Promise<ExitStatus> {
  if (reason.trim() === '') throw new UsageError('--all needs --reason: everybody who is stopped sees it');
  if (!isPauseReason(reason)) throw new UsageError(REASON_TOO_LONG);
  if (forMs === 0) throw new UsageError('--for needs a duration of more than 0');
  const act = async ({ operator, user }: OperatorJournal): Promise<ExitStatus> => {
    const pause = await operator.pauseAll({ reason, onlyDeletes, forMs }, user, Date.now());
    printLine(pausedError(pause).message);
    return EXIT.done;
  };
  return await withOperatorCommands(context, act, true);
}

/** Ends the pause of all accounts. */
async function resumeAll(context: CommandContext): Promise<ExitStatus> {
  const act = async ({ operator, user }: OperatorJournal): Promise<ExitStatus> => {
    const ended = await operator.resumeAll(user, Date.now());
    printLine(
      ended === null ? 'no pause of all accounts; nothing was changed' : 'ended the pause of all accounts',
    );
    return EXIT.done;
  };
  return await withOperatorCommands(context, act, true);
}

/** Stops the scheduled runs of accounts. A paused account stays paused, with the new reason if one is given. */
async function pause(
  context: CommandContext,
  names: readonly string[],
  flags: PauseFlags,
): Promise<ExitStatus> {
  if (isOfAll(names, flags)) return await pauseAll(context, flags);
  const { reason = null } = flags;
  if (!isPauseReason(reason)) throw new UsageError(REASON_TOO_LONG);
  return await forEachAccount(context, names, async ({ name, record }, { operator, user }) => {
    const until = `until \`rolecall resume ${name}\``;
    if ((record?.state.pause ?? null) !== null && reason === null)
      return `${name} is paused already; no scheduled run starts ${until}`;
    await operator.operate({ action: 'pause', account: name, reason }, user, Date.now());
    return `paused ${name}: no scheduled run starts ${until}`;
  });
}

/** Restarts the scheduled runs of accounts. Reports which were not paused. */
async function resume(
  context: CommandContext,
  names: readonly string[],
  flags: Pick<PauseFlags, 'all'>,
): Promise<ExitStatus> {
  if (isOfAll(names, flags)) return await resumeAll(context);
  return await forEachAccount(context, names, async ({ name, record }, { operator, user }) => {
    if ((record?.state.pause ?? null) === null) return `${name} is not paused; nothing was changed`;
    await operator.operate({ action: 'resume', account: name }, user, Date.now());
    return `resumed ${name}: it runs on its schedule again`;
  });
}

async function sync(context: CommandContext, names: readonly string[]): Promise<ExitStatus> {
  return await forEachAccount(context, names, async ({ name }, { operator, user }) => {
    await operator.operate({ action: 'sync', account: name }, user, Date.now());
    return `requested a run of ${name}: the daemon starts it as soon as it can`;
  });
}

/** The parts of the store that an operator's command works with. */
export interface OperatorJournal {
  readonly operator: OperatorCommands;
  readonly reader: Pick<JournalReader, 'run'>;
  /** Who runs the command. */
  readonly user: Operator;
}

/** Calls `act` for each selected account, one after the other, and prints what it returns. */
async function forEachAccount(
  context: CommandContext,
  names: readonly string[],
  act: (account: KnownAccount, journal: OperatorJournal) => Promise<string>,
): Promise<ExitStatus> {
  return await withOperatorCommands(context, async (journal, known) => {
    for (const account of selectAccounts(known, names)) printLine(await act(account, journal));
    return EXIT.done;
  });
}

/**
 * Calls `work` with the known accounts, and warns of a pause of all. A store that does not exist yet is created.
 * `mayBeNone`: whether there may be no account.
 */
export async function withOperatorCommands<T>(
  { configFile }: CommandContext,
  work: (journal: OperatorJournal, known: readonly KnownAccount[]) => Promise<T>,
  mayBeNone = false,
): Promise<T> {
  const configuration = await loadConfiguration(configFile);
  const { service, accounts, issues } = configuration;
  if (service === undefined) throw new ConfigError(errorsOf(issues));
  const { openJournal } = await import('./compose.ts');
  const store = await openJournal(service, {});
  const { reader, operator } = store;
  try {
    const known = await knownAccounts(reader, accounts);
    if (known.length === 0 && !mayBeNone) throw withoutAccounts(configuration);
    // A command about the pause of all reports it itself.
    const paused = mayBeNone ? null : describePause(await reader.pauseOfAll(Date.now()));
    if (paused !== null) showWarnings([paused]);
    return await work({ operator, reader, user: { name: userAtHost(), via: 'cli' } }, known);
  } finally {
    await store.close();
  }
}
