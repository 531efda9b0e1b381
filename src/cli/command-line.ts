// Where commands register themselves, and the options that several of them share.
import { type Command, Option } from 'commander';
import { UsageError } from '../core/errors.ts';
import { type Format, FORMATS, type ReportDetail } from '../report/document.ts';
import type { OutputOptions } from './console.ts';
import type { ExitStatus } from './exit-status.ts';

/** What a command works with. */
export interface CommandContext {
  readonly version: string;
  /** The path of the service file. */
  readonly configFile: string;
}

type Work = (context: CommandContext) => Promise<ExitStatus>;

/** Each command adds itself to `program`. Its action ends with `run` or `report`. */
export interface CommandLine {
  readonly program: Command;
  /** Calls `work`; its exit status becomes that of the program. */
  readonly run: (work: Work) => Promise<void>;
  /** Like `run`, for a command with reports: with `--format json` a failure is printed as JSON as well. */
  readonly report: (command: string, options: OutputOptions, work: Work) => Promise<void>;
}

export const ACCOUNT_HELP = 'name of the account';
export const ACCOUNTS_HELP = "names or globs; '!name' excludes; default: all accounts";

/** Adds `--format` and `--output`. */
export function addReportOptions(command: Command, formats: readonly string[] = FORMATS): Command {
  return command
    .addOption(new Option('--format <format>', 'output format').choices(formats).default('text'))
    .option('-o, --output <file>', 'write the report to this file instead of stdout');
}

/** Adds the option of the commands that send requests to the service. */
export function addRetryAfterOption(command: Command): Command {
  return command.option(
    '--ignore-retry-after',
    'send requests even before the time set by the service (Retry-After)',
  );
}

/** Adds `--only-changes` and `--verbose`. */
export function addDetailOptions(command: Command): Command {
  return command
    .option('--only-changes', 'count the accounts without changes instead of showing them')
    .option('--verbose', 'show everything, shorten nothing');
}

/** The chosen detail. Throws UsageError for JSON, which is always complete. */
export function reportDetail({
  format,
  onlyChanges,
  verbose,
}: ReportDetail & { readonly format: Format }): ReportDetail {
  if (format === 'json' && (onlyChanges === true || verbose === true)) {
    throw new UsageError(
      '--only-changes and --verbose have no effect on JSON, which is always complete; leave them out with --format json',
    );
  }
  return { onlyChanges, verbose };
}
