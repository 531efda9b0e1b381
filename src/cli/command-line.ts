// Where commands register themselves, and the options that several of them share.
import { type Command, Option } from 'commander';
import { FORMATS } from '../report/document.ts';
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
