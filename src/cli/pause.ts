// rolecall pause and rolecall resume: stop and restart the scheduled runs of an account.
import { ACCOUNT_HELP, type CommandContext, type CommandLine } from './command-line.ts';
import { printLine } from './console.ts';
import { EXIT, type ExitStatus } from './exit-status.ts';
import { withOperatorCommands } from './operator-commands.ts';

export function addPause({ program, run }: CommandLine): void {
  program
    .command('pause')
    .description('stop the scheduled runs of an account')
    .argument('<account>', ACCOUNT_HELP)
    .action((account: string) => run((context) => setPaused(context, account, true)));
}

export function addResume({ program, run }: CommandLine): void {
  program
    .command('resume')
    .description('restart the scheduled runs of an account')
    .argument('<account>', ACCOUNT_HELP)
    .action((account: string) => run((context) => setPaused(context, account, false)));
}

/** Stops or restarts the scheduled runs of an account. Reports when nothing had to change. */
async function setPaused(context: CommandContext, account: string, paused: boolean): Promise<ExitStatus> {
  return await withOperatorCommands(context, account, async (operator, record) => {
    if ((record?.state.paused ?? false) === paused) {
      printLine(
        paused
          ? `${account} is paused already; run \`rolecall resume ${account}\` to restart its scheduled runs`
          : `${account} is not paused; nothing was changed`,
      );
      return EXIT.done;
    }
    await operator.setPaused(account, paused);
    const what = paused
      ? `no scheduled run starts until \`rolecall resume ${account}\``
      : 'it runs on its schedule again';
    printLine(`${paused ? 'paused' : 'resumed'} ${account}: ${what}`);
    return EXIT.done;
  });
}
