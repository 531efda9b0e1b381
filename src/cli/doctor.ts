// rolecall doctor: its arguments and options.
import type { CheckOptions } from './check-accounts.ts';
import { ACCOUNTS_HELP, addReportOptions, addRetryAfterOption, type CommandLine } from './command-line.ts';

export function addDoctor({ program, report }: CommandLine): void {
  const command = addRetryAfterOption(program.command('doctor'));
  addReportOptions(command)
    .description('check addresses, tokens, lists, store and schedules')
    .argument('[account...]', ACCOUNTS_HELP)
    .action(async (names: string[], flags: CheckOptions) => {
      const { checkAccounts } = await import('./check-accounts.ts');
      await report('doctor', flags, (context) => checkAccounts(context, names, flags));
    });
}
