// The text formats of settings, each as a zod schema: validation, conversion and the JSON Schema for editors come from
// one definition.
import path from 'node:path';
import { z } from 'zod';
import {
  type Checked,
  parseBaseUrl,
  parseGitUrl,
  parseListen,
  parseOriginGlob,
  parseWebhookUrl,
} from './addresses.ts';
import { isCalendarDate, isInstant, isTimezone, cronProblem } from './dates-and-schedules.ts';
import { formatDuration, parseDuration } from '../core/durations-and-sizes.ts';
import { hasTooManyMarks, nameProblem, referenceProblem } from '../core/name-rules.ts';
import { nameKey } from '../core/names.ts';
import { nearestWord } from '../core/did-you-mean.ts';
import type { SecretRef } from '../core/settings.ts';

/**
 * A schema with what editors and the reference in config/README.md show: the description, examples, and the default if the
 * schema itself has none.
 */
export function setting<S extends z.ZodType>(
  schema: S,
  description: string,
  examples: readonly unknown[],
  unset?: unknown,
): S {
  return schema.meta({ description, ...(unset === undefined ? {} : { default: unset }), examples });
}

interface Format<T> {
  /** What the value is, in a word or two: for editors and for the reference in config/README.md. */
  readonly title: string;
  readonly expected: string;
  readonly parse: (text: string) => Checked<T>;
  readonly pattern?: string;
}

/** setTimeout fires immediately for more than about 24.8 days, so durations of timers must be shorter. */
const LONGEST_TIMER_MS = 24 * 86_400_000;
const LONGEST_MS = 36_500 * 86_400_000;
/** PATH_MAX of Linux. */
const LONGEST_PATH = 4096;
/** A name of 1,000 characters, each escaped. */
const LONGEST_GLOB = 2000;

/** A duration, in milliseconds; `timer` limits it to the longest delay of a timer. */
export function duration({ min = 0, timer = true }: { min?: number; timer?: boolean } = {}) {
  const max = timer ? LONGEST_TIMER_MS : LONGEST_MS;
  return format<number>({
    title: 'duration',
    expected: 'a duration such as 500ms, 30s, 15m, 2h or 90d',
    pattern: '^[0-9]{1,12}(ms|s|m|h|d)$',
    parse: (text) => {
      const value = parseDuration(text);
      if (value === undefined)
        return { problem: 'this is not a duration; write it as 500ms, 30s, 15m, 2h or 90d' };
      if (value < min) return { problem: `this is too short; the minimum is ${formatDuration(min)}` };
      if (value > max) return { problem: `this is too long; the maximum is ${formatDuration(max)}` };
      return { value };
    },
  });
}

export const cronLine = format<string>({
  title: 'cron line',
  expected: 'a schedule in quotes, such as "*/15 * * * *"',
  parse: (text) => {
    const problem = cronProblem(text);
    return problem === undefined ? { value: text.trim() } : { problem };
  },
});

export const timezone = format<string>({
  title: 'time zone',
  expected: 'a time zone such as Etc/UTC or Europe/Berlin',
  parse: (text) => {
    if (isTimezone(text)) return { value: text };
    const near = nearestWord(text, Intl.supportedValuesOf('timeZone'));
    return {
      problem: `this is not a time zone; ${near === undefined ? 'write it as Europe/Berlin' : `did you mean ${near}?`}`,
    };
  },
});

export const baseUrl = format<string>({
  title: 'address',
  expected: 'an address such as https://host',
  parse: parseBaseUrl,
});

export const webhookUrl = format<string>({
  title: 'address',
  expected: 'an address such as https://host/path',
  parse: parseWebhookUrl,
});

export const gitUrl = format<string>({
  title: 'git address',
  expected: 'a repository such as https://host/owner/name.git',
  parse: parseGitUrl,
});

export const listenAddress = format<{ host: string; port: number }>({
  title: 'host:port',
  expected: 'host:port, such as 127.0.0.1:8080',
  parse: parseListen,
});

/** The last day of something, in UTC. */
export const calendarDate = format<string>({
  title: 'date',
  expected: 'a date such as 2026-12-31',
  pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$',
  parse: (text) =>
    isCalendarDate(text)
      ? { value: text }
      : { problem: 'this is not a date of the calendar; write it as YYYY-MM-DD' },
});

/** A date, or a date with time and zone. */
export const moment = format<string>({
  title: 'date or time',
  expected: 'a date such as 2026-12-24, or 2026-12-24T18:00:00Z',
  parse: (text) =>
    isCalendarDate(text) || isInstant(text)
      ? { value: text }
      : { problem: 'this is not a date; write 2026-12-24, or 2026-12-24T18:00:00Z with a time zone' },
});

/** The name of a skill or role, converted to NFC. */
export const nameText = z.string().min(1).meta({ title: 'name' }).transform(toName(nameProblem));

/** The name of an existing skill or role, converted to NFC. */
export const nameReference = z.string().meta({ title: 'name' }).transform(toName(referenceProblem));

function toName(problemOf: (name: string) => string | undefined) {
  return (written: string, context: z.RefinementCtx): string => {
    const problem = problemOf(written);
    if (problem === undefined) return nameKey(written);
    context.addIssue({ code: 'custom', message: problem });
    return z.NEVER;
  };
}

/** A path or a glob of paths. Whether it exists is not checked here. */
export const pathText = format<string>({
  title: 'path',
  expected: 'a path',
  parse: (text) => {
    if (text === '' || /\p{Cc}/u.test(text))
      return { problem: 'this path is empty or has a control character; write the path of a file' };
    if (text.length > LONGEST_PATH || hasTooManyMarks(text))
      return { problem: 'this is longer than a path can be; is a quote or a line break missing?' };
    return { value: text };
  },
});

/** A glob over names. */
export const nameGlob = format<string>({
  title: 'glob',
  expected: 'a glob such as Admin*',
  parse: (text) =>
    hasTooManyMarks(text) && text.length > LONGEST_GLOB
      ? { problem: 'this glob has more than 30 combining marks in a row; shorten it' }
      : { value: text },
});

/** A glob over origins, written like an address. */
export const originGlob = format<string>({
  title: 'glob',
  expected: 'an origin such as https://host, where * matches any characters',
  pattern: '^(\\*|https?://[^\\s/#@]+/?)$',
  parse: parseOriginGlob,
});

/** A glob over names of variables. */
export const variableGlob = format<string>({
  title: 'glob',
  expected: 'the name of a variable, where * matches any characters',
  pattern: '^[A-Za-z0-9_*?]+$',
  parse: (text) =>
    /^[A-Za-z0-9_*?]{1,256}$/u.test(text)
      ? { value: text }
      : {
          problem: 'must be the name of a variable, where * matches any characters (the value is not shown)',
        },
});

/** A text of this form. */
export function matching(form: RegExp, expected: string) {
  return z.string({ error: expected }).regex(form, { error: expected });
}

/** A value that may be a secret: the message is the same whatever is wrong with it, and never quotes it. */
export function neverShown<S extends z.ZodType>(schema: S, expected: string) {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { target: 'draft-7', io: 'input' });
  return z
    .unknown()
    .meta(json)
    .transform((written, context): z.output<S> => {
      const read = schema.safeParse(written);
      if (read.success) return read.data;
      context.addIssue({ code: 'custom', message: `must be ${expected} (the value is not shown)` });
      return z.NEVER;
    });
}

const SECRET = '{ env: NAME } or { file: PATH }';

const reference = z
  .union([
    z.strictObject({
      env: z
        .string()
        .regex(/^[A-Za-z_][A-Za-z0-9_]*$/u)
        .describe('Name of the environment variable that contains it.'),
    }),
    z.strictObject({
      file: z
        .string()
        .regex(/^[^\p{Cc}]+$/u)
        .meta({ pattern: '^.+$' })
        .describe('File that contains it, relative to this file.'),
    }),
  ])
  .meta({ title: 'secret reference' });

/** A reference to a secret. Any other value may be the secret itself. */
export const secretRef = neverShown(reference, `${SECRET}, never the secret itself`);

/** An address, or a reference to one that contains a secret. */
export function secretOr<S extends z.ZodType>(address: S, expected: string) {
  return neverShown(z.union([address, reference]), `${expected}, or ${SECRET}`);
}

function format<T>({ title, expected, parse, pattern }: Format<T>) {
  return z
    .string({ error: expected })
    .meta({ title, ...(pattern === undefined ? {} : { pattern }) })
    .transform((written, context): T => {
      const checked = parse(written);
      if ('value' in checked) return checked.value;
      context.addIssue({ code: 'custom', message: checked.problem });
      return z.NEVER;
    });
}

/** `ref` with its path made absolute, relative to the folder of the file that it is in. */
export function absoluteRef(ref: SecretRef, folder: string): SecretRef {
  return 'env' in ref ? { env: ref.env } : { file: path.resolve(folder, ref.file) };
}

/** Equal for references to the same variable or file. */
export function refKey(ref: SecretRef): string {
  return 'env' in ref ? `env ${ref.env}` : `file ${ref.file}`;
}
