// rolecall pause, resume and sync: pass an operator’s decision to the daemon through the store that both share.
import { ConfigError, UsageError } from '../core/errors.ts';
import { isPauseReason, type Operator, type OperatorCommands, REASON_TOO_LONG } from '../core/operator.ts';
import type { JournalReader } from '../core/ports/journal-reader.ts';
import { type CommandLine, SOME_ACCOUNTS_HELP } from './command-line.ts';
import type { CommandContext } from './compose.ts';
import { printLine } from './console.ts';
import { EXIT, type ExitStatus } from './exit-status.ts';
import {
  errorsOf,
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
    .description('stop the scheduled runs of accounts')
    .argument('<account...>', SOME_ACCOUNTS_HELP)
    .option('--reason <text>', 'why, for `rolecall status` and the pages')
    .action((names: string[], options: { readonly reason?: string }) =>
      run((context) => pause(context, names, options.reason ?? null)),
    );
}

export function addResume({ program, run }: CommandLine): void {
  program
    .command('resume')
    .description('restart the scheduled runs of accounts')
    .argument('<account...>', SOME_ACCOUNTS_HELP)
    .action((names: string[]) => run((context) => resume(context, names)));
}

export function addSync({ program, run }: CommandLine): void {
  program
    .command('sync')
    .description('let the daemon run accounts now, also paused ones')
    .argument('<account...>', SOME_ACCOUNTS_HELP)
    .action((names: string[]) => run((context) => sync(context, names)));
}

/** Stops the scheduled runs of accounts. A paused account stays paused, with the new reason if one is given. */
async function pause(
  context: CommandContext,
  names: readonly string[],
  reason: string | null,
): Promise<ExitStatus> {
  if (!isPauseReason(reason)) throw new UsageError(REASON_TOO_LONG);
  return await forEachAccount(context, names, async ({ name, record }, { operator, user }) => {
    const until = `until \`rolecall resume ${name}\``;
    if ((record?.state.pause ?? null) !== null && reason === null)
      return `${name} is paused already; no scheduled run starts ${until}`;
    await operator.pause(name, reason, user, Date.now());
    return `paused ${name}: no scheduled run starts ${until}`;
  });
}

/** Restarts the scheduled runs of accounts. Reports which were not paused. */
async function resume(context: CommandContext, names: readonly string[]): Promise<ExitStatus> {
  return await forEachAccount(context, names, async ({ name, record }, { operator, user }) => {
    if ((record?.state.pause ?? null) === null) return `${name} is not paused; nothing was changed`;
    await operator.resume(name, user, Date.now());
    return `resumed ${name}: it runs on its schedule again`;
  });
}

async function sync(context: CommandContext, names: readonly string[]): Promise<ExitStatus> {
  return await forEachAccount(context, names, async ({ name }, { operator, user }) => {
    await operator.requestSync(name, user, Date.now());
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

/** Calls `work` with the known accounts. A store that does not exist yet is created. */
export async function withOperatorCommands<T>(
  { configFile }: CommandContext,
  work: (journal: OperatorJournal, known: readonly KnownAccount[]) => Promise<T>,
): Promise<T> {
  const configuration = await loadConfiguration(configFile);
  const { service, accounts, issues } = configuration;
  if (service === undefined) throw new ConfigError(errorsOf(issues));
  const { openJournal } = await import('./compose.ts');
  const store = await openJournal(service, {});
  const { reader, operator } = store;
  try {
    const known = await knownAccounts(reader, accounts);
    if (known.length === 0) throw withoutAccounts(configuration);
    return await work({ operator, reader, user: { name: userAtHost(), via: 'cli' } }, known);
  } finally {
    await store.close();
  }
}
