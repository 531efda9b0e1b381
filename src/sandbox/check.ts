// What the schemas of seeds, faults and settings share: parts, the files that contain them, and the error of a wrong one:
// every problem with its path, what is expected, and the fix.
import { readFileSync } from 'node:fs';
import { z } from 'zod';

/** A value as a caller gives it: what has a default is optional, and nothing is changed. */
export type Given<T> = T extends object ? { readonly [K in keyof T]: Given<T[K]> } : T;

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

function shouldBe(what: string, value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return `should be ${what}, not ${text.length > 60 ? `${text.slice(0, 60)}…` : text}`;
}

function inRange(what: string, min: number, max: number) {
  const range = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`;
  return { error: ({ input }: { readonly input?: unknown }) => shouldBe(`${what} ${range}`, input) };
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

/** A string that is not empty. */
export const aText = z.string().min(1);

const EXPECTED: Readonly<Record<string, string>> = {
  string: 'a string',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

/** What is expected, and the given value. Undefined: the schema has a message of its own. */
function messageOf(issue: z.core.$ZodRawIssue): string | undefined {
  const { input, inst } = issue;
  if (issue.code === 'unrecognized_keys')
    return `the keys are ${inst instanceof z.ZodObject ? Object.keys(inst.shape).join(', ') : 'others'}`;
  if (issue.code === 'invalid_type') return shouldBe(EXPECTED[issue.expected] ?? issue.expected, input);
  if (issue.code === 'invalid_value')
    return shouldBe(`one of ${issue.values.map((each) => JSON.stringify(each)).join(', ')}`, input);
  return issue.code === 'too_small' ? shouldBe('a string that is not empty', input) : undefined;
}

/** The value, checked and typed. Throws one `SandboxError` with every problem. `path` names the value. */
export function parseAs<T extends z.ZodType>(schema: T, value: unknown, path: string): z.output<T> {
  const { error, data } = schema.safeParse(value, { reportInput: true, error: messageOf });
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

/** The parsed value in a JSON file. Throws `SandboxError`, whose problems all start with the name of the file. */
export function parseFile<T>(file: string, parse: (value: unknown) => T): T {
  let text: string;
  try {
    text = readFileSync(file, 'utf8').replace(/^\uFEFF/, '');
  } catch (cause) {
    const problem = `${file}: cannot read the file; check its path and permissions`;
    throw new SandboxError('file', problem, { cause });
  }
  try {
    return parse(JSON.parse(text));
  } catch (cause) {
    if (cause instanceof SyntaxError)
      throw new SandboxError('file', `${file}: not valid JSON: ${cause.message}`, { cause });
    if (!(cause instanceof SandboxError)) throw cause;
    const issues = cause.issues.map((issue) => `${file}: ${issue}`);
    throw new SandboxError(cause.code, issues, { cause });
  }
}
