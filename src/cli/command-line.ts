// Where commands register themselves, the options that several of them share, and the values of options.
import { type Command, Option, InvalidArgumentError } from 'commander';
import { nearestWord } from '../core/did-you-mean.ts';
import { FORMATS } from '../report/document.ts';
import type { CommandContext } from './compose.ts';
import { type Acceptance, GUARDS } from '../run/request.ts';
import type { ExitStatus } from './exit-status.ts';
import { DAY_MS, parseDuration } from '../core/durations-and-sizes.ts';

/** The service file without `--config`. */
export const DEFAULT_CONFIG = 'config/rolecall.yaml';

/** What a command does with its arguments and options. */
type Work<Given extends unknown[]> = (context: CommandContext, ...given: Given) => Promise<ExitStatus>;

/** Each command adds itself to `program`, with an action that `run` or `report` makes of its work. */
export interface CommandLine {
  readonly program: Command;
  /** The exit status of the work becomes that of the program. */
  readonly run: <Given extends unknown[]>(work: Work<Given>) => (...given: Given) => Promise<void>;
  /** Like `run`, for a command with reports: with `--format json` a failure is printed as JSON as well. */
  readonly report: CommandLine['run'];
}

export const SOME_ACCOUNTS_HELP = "names or globs; '!name' excludes";
export const ACCOUNTS_HELP = `${SOME_ACCOUNTS_HELP}; default: all accounts`;

/** Adds `--format` and `--output`. */
export function addReportOptions(command: Command, formats: readonly string[] = FORMATS): Command {
  return command
    .addOption(new Option('--format <format>', 'output format').choices(formats).default('text'))
    .option('-o, --output <file>', 'write the report to this file instead of stdout');
}

/** Adds `--verbose`. */
export function addDetailOptions(command: Command): Command {
  return command.option('--verbose', 'show everything, shorten nothing');
}

/** `--accept`, which may be repeated: the guards that an operator overrides. */
export function acceptOption(): Option {
  return new Option('--accept <guard>', 'override this guard; can be repeated')
    .choices(GUARDS)
    .argParser((text, earlier: Acceptance | undefined) => {
      const guard = GUARDS.find((each) => each === text);
      if (guard !== undefined) return new Set([...(earlier ?? []), guard]);
      const near = nearestWord(text, GUARDS);
      const hint = near === undefined ? '' : ` Did you mean ${near}?`;
      throw new InvalidArgumentError(`Use one of ${GUARDS.join(', ')}.${hint}`);
    });
}

/** A duration in milliseconds. */
export function duration(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined) throw new InvalidArgumentError('Use a duration such as 500ms, 30s, 15m, 2h or 90d.');
  return ms;
}

export function positive(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('Use a whole number of 1 or more.');
  return Number(text);
}

export function port(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) {
    throw new InvalidArgumentError('Use a port from 0 to 65535.');
  }
  return Number(text);
}

const DATE_TIME =
  /^(?<day>\d{4}-\d{2}-\d{2})(?:[Tt ](?<time>\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)(?<zone>[Zz]|[+-]\d{2}:\d{2})?)?$/u;

/**
 * A moment in epoch milliseconds: `now`, `yesterday`, how long ago (`7d`), an ISO 8601 date or date and time. A day means
 * its beginning, and what has no zone is UTC. undefined for any other text. A number that begins with 0 begins the id of a
 * run.
 */
export function parseMoment(text: string, nowMs: number): number | undefined {
  if (text === 'now') return nowMs;
  if (text === 'yesterday') return (Math.floor(nowMs / DAY_MS) - 1) * DAY_MS;
  const ago = text.startsWith('0') ? undefined : parseDuration(text);
  if (ago !== undefined) return nowMs - ago;
  const { day = '', time = '00:00', zone = 'Z' } = DATE_TIME.exec(text)?.groups ?? {};
  const ms = Date.parse(`${day}T${time}${zone}`.toUpperCase());
  // JavaScript accepts the 30th of February as the 2nd of March.
  const dayMs = Date.parse(`${day}T00:00:00Z`);
  const isDay = !Number.isNaN(dayMs) && new Date(dayMs).toISOString().startsWith(day);
  return Number.isNaN(ms) || !isDay ? undefined : ms;
}

/** The same for an option. */
export function moment(text: string): number {
  const ms = parseMoment(text, Date.now());
  if (ms === undefined) throw new InvalidArgumentError(`Use ${MOMENT_HELP}.`);
  return ms;
}

export const MOMENT_HELP =
  'a date such as 2026-03-31 (its beginning, UTC), a date and time such as 2026-03-31T14:00Z, `yesterday` or `7d`';
