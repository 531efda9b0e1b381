// rolecall plan: its arguments and options.
import { Option } from 'commander';
import {
  ACCOUNTS_HELP,
  addReportOptions,
  addRetryAfterOption,
  type CommandLine,
  addDetailOptions,
} from './command-line.ts';
import type { PlanOptions } from './plan-accounts.ts';

export function addPlan({ program, report }: CommandLine): void {
  addRetryAfterOption(addDetailOptions(addReportOptions(program.command('plan'))))
    .description('show what apply would create, delete and hold (dry run)')
    .argument('[account...]', ACCOUNTS_HELP)
    .option('--save <file>', 'save the plan for `apply --plan`')
    .addOption(new Option('--out <file>', 'the old name of --save').conflicts('save').hideHelp())
    .option(
      '--server <url>',
      'request the plan from a daemon, which has the history; token in $ROLECALL_HTTP_TOKEN',
    )
    .option('--allow-insecure', 'with --server: send the token to another machine over http://')
    .addOption(
      new Option(
        '--new-accounts <what>',
        'with --server: whether accounts that the daemon does not have are an error',
      )
        .choices(['ok', 'fail'])
        .default('ok'),
    )
    .option(
      '--accept-no-history',
      'plan deletes even if the store has no earlier lists of the account (no_history)',
    )
    .option(
      '--detailed-exitcode',
      'exit 2 if there are operations to apply, 3 if changes are only held or blocked',
    )
    .action(async (names: string[], { out, ...flags }: PlanOptions & { readonly out?: string }) => {
      const { planAccounts } = await import('./plan-accounts.ts');
      const options = { ...flags, save: flags.save ?? out };
      await report('plan', options, (context) => planAccounts(context, names, options));
    });
}
