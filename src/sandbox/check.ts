// The parts from which the schemas of seeds, faults and settings are made, the files that contain them, and the error of a
// wrong one: every problem with its path, what is expected, and the fix.
import { readFileSync } from 'node:fs';
import { z } from 'zod';

/**
 * `invalid`: a value is wrong. `file`: a file cannot be read or parsed. `not_found`: no such account, entry or
 * resource. `unavailable`: another process uses the port or the data file.
 */
export type SandboxErrorCode = 'invalid' | 'file' | 'not_found' | 'unavailable';

/** The message names each problem, its place and the fix, one per line. `issues` is the list of these lines. */
export class SandboxError extends Error {
  override readonly name = 'SandboxError';
  readonly code: SandboxErrorCode;
  readonly issues: readonly string[];

  constructor(code: SandboxErrorCode, issues: string | readonly string[], options: { cause?: unknown } = {}) {
    const all = typeof issues === 'string' ? [issues] : issues;
    super(all.join('\n'), options);
    this.code = code;
    this.issues = all;
  }
}

/** Whether the value is a JSON object, not null or an array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function preview(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

/** The error of a schema: what is expected, and the given value. */
export function expected(what: string) {
  return { error: ({ input }: { readonly input?: unknown }) => `should be ${what}, not ${preview(input)}` };
}

export const aString = z.string(expected('a string'));
const notEmpty = expected('a string that is not empty');
export const aNonEmptyString = z.string(notEmpty).min(1, notEmpty);
export const aBoolean = z.boolean(expected('true or false'));

function inRange(what: string, min: number, max: number) {
  return expected(
    max === Number.MAX_SAFE_INTEGER ? `${what} of at least ${min}` : `${what} from ${min} to ${max}`,
  );
}

/** A finite number within the bounds, both included. */
export function aNumber(min: number, max = Number.MAX_SAFE_INTEGER) {
  const range = inRange('a number', min, max);
  return z.number(range).min(min, range).max(max, range);
}

/** A whole number within the bounds, both included. */
export function anInteger(min: number, max = Number.MAX_SAFE_INTEGER) {
  const range = inRange('a whole number', min, max);
  return z.int(range).min(min, range).max(max, range);
}

/** One of the given values. */
export function oneOf<const T extends readonly (string | number | boolean)[]>(...values: T) {
  return z.literal(values, expected(`one of ${values.map((each) => JSON.stringify(each)).join(', ')}`));
}

/** An array whose items all pass the check. */
export function listOf<T extends z.ZodType>(item: T) {
  return z.array(item, expected('a list')).readonly();
}

/** An object with any keys whose values all pass the check. */
export function recordOf<T extends z.ZodType>(item: T) {
  return z.record(z.string(), item, expected('an object')).readonly();
}

/** An object with these keys only. */
export function objectOf<T extends z.ZodRawShape>(shape: T) {
  const anObject = expected('an object');
  return z
    .strictObject(shape, {
      error: (issue) =>
        issue.code === 'unrecognized_keys'
          ? `the keys are ${Object.keys(shape).join(', ')}`
          : anObject.error(issue),
    })
    .readonly();
}

/** The value, checked and typed. Throws one `SandboxError` with every problem. `path` names the value. */
export function parseAs<T extends z.ZodType>(schema: T, value: unknown, path: string): z.output<T> {
  const { error, data } = schema.safeParse(value, { reportInput: true });
  if (error !== undefined) {
    throw new SandboxError(
      'invalid',
      error.issues.flatMap((issue) => problemsOf(issue, path)),
    );
  }
  return data as z.output<T>; // present, since there is no error
}

function problemsOf(issue: z.core.$ZodIssue, root: string): string[] {
  const path = pathBelow(root, issue.path);
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => `${path}: unknown key "${key}"; ${issue.message}`);
  const key = issue.path.at(-1);
  if (issue.input === undefined && key !== undefined && issue.code !== 'custom')
    return [`${pathBelow(root, issue.path.slice(0, -1))}: "${String(key)}" is missing; add it`];
  // The problems of the alternative whose type fits, otherwise of the last one.
  const fitting =
    issue.code === 'invalid_union'
      ? (issue.errors.find(([first]) => first !== undefined && !isWrongType(first)) ?? issue.errors.at(-1))
      : undefined;
  return fitting?.flatMap((each) => problemsOf(each, path)) ?? [`${path}: ${issue.message}`];
}

function isWrongType({ code, path }: z.core.$ZodIssue): boolean {
  return path.length === 0 && (code === 'invalid_type' || code === 'invalid_value');
}

function pathBelow(root: string, path: readonly PropertyKey[]): string {
  return root + path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`)).join('');
}

/** The value in a JSON file. Throws `SandboxError` with the name of the file. */
export function readJsonFile(file: string): unknown {
  let text: string;
  try {
    text = readFileSync(file, 'utf8').replace(/^\uFEFF/, '');
  } catch (cause) {
    throw new SandboxError('file', `${file}: cannot read the file; check its path and permissions`, {
      cause,
    });
  }
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new SandboxError('file', `${file}: not valid JSON: ${reason}`, { cause });
  }
}
