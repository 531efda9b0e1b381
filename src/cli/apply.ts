// rolecall apply: its arguments and options.
import { Option } from 'commander';
import { addReportOptions, addRetryAfterOption, type CommandLine, addDetailOptions } from './command-line.ts';
import type { ReportDetail } from '../report/document.ts';
import type { OutputOptions } from './console.ts';
import type { RetryAfterOptions } from './compose.ts';
import { duration } from './option-values.ts';

interface ApplyFlags extends OutputOptions, RetryAfterOptions, ReportDetail {
  readonly yes?: true;
  readonly all?: true;
  readonly plan?: string;
  readonly allowHeld?: true;
  readonly acceptShrink?: true;
  readonly acceptNoHistory?: true;
  readonly acceptOlderSource?: true;
  readonly lockTimeout: number;
}

export function addApply({ program, report }: CommandLine): void {
  addRetryAfterOption(addDetailOptions(addReportOptions(program.command('apply'))))
    .description('plan, show the plan, ask, apply it and verify the result')
    .argument('[account...]', "names or globs; '!name' excludes; required if there are several accounts")
    .option('--all', 'apply to all accounts')
    .option('-y, --yes', 'do not ask for confirmation')
    .option(
      '--plan <file>',
      'apply a plan saved by `plan --save`; refused if it no longer matches the account',
    )
    .option('--allow-held', 'exit 0 if only held changes remain')
    .option('--accept-shrink', 'accept lists that look incomplete (suspicious_shrink, suspicious_list)')
    .option(
      '--accept-no-history',
      'delete even if the store has no earlier lists of the account (no_history)',
    )
    .option(
      '--accept-older-source',
      'accept a configuration that is older than the one last applied, or whose commit is unknown (stale_source)',
    )
    .addOption(
      new Option(
        '--lock-timeout <duration>',
        'how long to wait while another run of the account holds the lock',
      )
        .default(300_000, '5m')
        .argParser(duration),
    )
    .action(async (names: string[], flags: ApplyFlags) => {
      const { applyToAccounts } = await import('./apply-accounts.ts');
      const options = {
        format: flags.format,
        output: flags.output,
        yes: flags.yes === true,
        all: flags.all === true,
        planFile: flags.plan,
        onlyChanges: flags.onlyChanges,
        verbose: flags.verbose,
        allowHeld: flags.allowHeld === true,
        ignoreRetryAfter: flags.ignoreRetryAfter === true,
        lockTimeoutMs: flags.lockTimeout,
        accept: {
          shrink: flags.acceptShrink === true,
          olderSource: flags.acceptOlderSource === true,
          noHistory: flags.acceptNoHistory === true,
        },
      };
      await report('apply', options, (context) => applyToAccounts(context, names, options));
    });
}
