// rolecall approve, pause and resume: pass an operator’s decision to the daemon through the store that both share.
import { ConfigError, UsageError } from '../core/errors.ts';
import {
  isPauseReason,
  type Operator,
  type OperatorCommands,
  PLAN_DIGEST,
  REASON_TOO_LONG,
} from '../core/operator.ts';
import type { AccountRecord, JournalReader } from '../core/ports/journal-reader.ts';
import { changeCounts } from '../report/plan-sentence.ts';
import { ACCOUNT_HELP, type CommandLine } from './command-line.ts';
import type { CommandContext } from './compose.ts';
import { printLine, showMessage } from './console.ts';
import { EXIT, type ExitStatus } from './exit-status.ts';
import { accountNamed, errorsOf, loadConfiguration, withoutAccounts } from './load-accounts.ts';
import { userAtHost } from '../system/runtime.ts';

export function addApprove({ program, run }: CommandLine): void {
  program
    .command('approve')
    .description('allow the daemon to apply the pending plan of an account')
    .argument('<account>', ACCOUNT_HELP)
    .argument('[digest]', 'digest of the plan, or the beginning of it; refused if another plan is pending')
    .action((account: string, digest: string | undefined) =>
      run((context) => approve(context, account, digest)),
    );
}

async function approve(
  context: CommandContext,
  account: string,
  digest: string | undefined,
): Promise<ExitStatus> {
  if (digest !== undefined && !PLAN_DIGEST.test(digest)) {
    throw new UsageError(
      'DIGEST must be the digest of the plan, or at least its first eight hex digits; `rolecall status` shows it',
    );
  }
  return await withOperatorCommands(context, account, (journal) => approvePending(account, digest, journal));
}

/**
 * Approves the pending plan: the one with this digest, or with the beginning of one. Without it, the plan that was pending
 * when the record was read; one that replaced it meanwhile is not approved.
 */
export async function approvePending(
  account: string,
  digest: string | undefined,
  { operator, record, reader, user }: OperatorJournal,
): Promise<ExitStatus> {
  const pending = record?.state.pending ?? null;
  const wanted = digest ?? pending?.digest;
  const outcome =
    wanted === undefined
      ? ({ type: 'nothing_pending' } as const)
      : await operator.approve(account, wanted, user, Date.now());
  switch (outcome.type) {
    case 'approved': {
      const until = new Date(outcome.expiresAtMs).toISOString();
      const isPaused = (record?.state.pause ?? null) !== null;
      const wait = isPaused ? `; ${account} is paused: run \`rolecall resume ${account}\` to continue` : '';
      const made = pending === null ? null : await reader.run(pending.runId);
      const effect =
        made?.run.mode === 'plan' ? '; in mode plan it accepts the lists and writes nothing' : '';
      printLine(`approved ${outcome.digest} of ${account}, once, until ${until}${effect}${wait}`);
      if (made?.plan?.digest === outcome.digest)
        printLine(`${changeCounts(made.plan)}; \`rolecall show ${made.run.id}\` shows the plan`);
      return EXIT.done;
    }
    case 'nothing_pending': {
      const last = record?.lastRun;
      const state = last ? `its last run (${last.id}) ended ${last.status}` : 'it has not run yet';
      showMessage(
        `error: ${account} has no plan that waits for approval: ${state}. Runs of the daemon that a guard blocked, and those in mode approve, make such plans`,
      );
      return EXIT.failed;
    }
    case 'other_plan': {
      const hint = `Review it with \`rolecall show ${pending?.runId ?? 'RUN'}\``;
      showMessage(
        `error: the pending plan is ${outcome.pending}, not ${wanted ?? ''}; nothing was approved. ${hint}`,
      );
      return EXIT.stalePlan;
    }
    default:
      return outcome satisfies never;
  }
}

export function addPause({ program, run }: CommandLine): void {
  program
    .command('pause')
    .description('stop the scheduled runs of an account')
    .argument('<account>', ACCOUNT_HELP)
    .option('--reason <text>', 'why, for `rolecall status` and the pages')
    .action((account: string, options: { readonly reason?: string }) =>
      run((context) => pause(context, account, options.reason ?? null)),
    );
}

export function addResume({ program, run }: CommandLine): void {
  program
    .command('resume')
    .description('restart the scheduled runs of an account')
    .argument('<account>', ACCOUNT_HELP)
    .action((account: string) => run((context) => resume(context, account)));
}

/** Stops the scheduled runs of an account. A paused account stays paused, with the new reason if one is given. */
async function pause(context: CommandContext, account: string, reason: string | null): Promise<ExitStatus> {
  if (!isPauseReason(reason)) throw new UsageError(REASON_TOO_LONG);
  return await withOperatorCommands(context, account, async ({ operator, record, user }) => {
    const until = `until \`rolecall resume ${account}\``;
    if ((record?.state.pause ?? null) !== null && reason === null) {
      printLine(`${account} is paused already; no scheduled run starts ${until}`);
      return EXIT.done;
    }
    await operator.pause(account, reason, user, Date.now());
    printLine(`paused ${account}: no scheduled run starts ${until}`);
    return EXIT.done;
  });
}

/** Restarts the scheduled runs of an account. Reports when it was not paused. */
async function resume(context: CommandContext, account: string): Promise<ExitStatus> {
  return await withOperatorCommands(context, account, async ({ operator, record, user }) => {
    if ((record?.state.pause ?? null) === null) {
      printLine(`${account} is not paused; nothing was changed`);
      return EXIT.done;
    }
    await operator.resume(account, user, Date.now());
    printLine(`resumed ${account}: it runs on its schedule again`);
    return EXIT.done;
  });
}

/** The parts of the store that an operator's command works with. */
interface OperatorJournal {
  readonly operator: OperatorCommands;
  readonly reader: Pick<JournalReader, 'run'>;
  /** The stored record of the account. */
  readonly record: AccountRecord | undefined;
  /** Who runs the command. */
  readonly user: Operator;
}

/** Calls `work` with the account's record. A store that does not exist yet is created. Throws UsageError. */
async function withOperatorCommands<T>(
  { configFile }: CommandContext,
  account: string,
  work: (journal: OperatorJournal) => Promise<T>,
): Promise<T> {
  const configuration = await loadConfiguration(configFile);
  const { service, accounts, issues } = configuration;
  if (service === undefined) throw new ConfigError(errorsOf(issues));
  const { openJournal } = await import('./compose.ts');
  const store = await openJournal(service, {});
  const { reader, operator } = store;
  try {
    // With `source.git` the account file may exist only in the daemon's checkout. Then the store contains the account.
    const [record] = await reader.accounts(account);
    if (record === undefined && accounts.length === 0) throw withoutAccounts(configuration);
    if (record === undefined) accountNamed(accounts, account);
    return await work({ operator, reader, record, user: { name: userAtHost(), via: 'cli' } });
  } finally {
    await store.close();
  }
}
