// rolecall pause and rolecall resume: stop and restart the scheduled runs of an account.
import { UsageError } from '../core/errors.ts';
import { isPauseReason, REASON_TOO_LONG } from '../core/operator.ts';
import { ACCOUNT_HELP, type CommandContext, type CommandLine } from './command-line.ts';
import { printLine } from './console.ts';
import { EXIT, type ExitStatus } from './exit-status.ts';
import { withOperatorCommands } from './open-journal.ts';

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
