// Converts zod's issues to messages with a position in the file. The message of a schema names what it expects.
import { z } from 'zod';
import {
  type NodePath,
  type Located,
  isMistyped,
  locate,
  report,
  reportKey,
  type YamlFile,
  quoted,
} from './yaml/yaml-file.ts';
import { isScalar } from 'yaml';
import { holdsToken } from '../core/secret-looks.ts';
import { nearestWord } from '../core/did-you-mean.ts';

type ZodIssue = z.core.$ZodIssue;

const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'a mapping of keys to values',
  record: 'a mapping of keys to values',
  array: 'a list: [a, b], or lines that start with -',
};

/** The converted settings; undefined if `value` does not fit the schema, which is reported in `file`. */
export function checkAgainstSchema<S extends z.ZodType>(
  file: YamlFile,
  schema: S,
  value: unknown,
): z.output<S> | undefined {
  const result = schema.safeParse(value, { error: allowedKeys });
  for (const issue of result.error?.issues ?? []) reportZod(file, issue, []);
  return result.data;
}

/** The settings of a mapping that are valid, each checked alone: a problem of one must not hide those of the others. */
export function validKeys<S extends z.ZodObject>(
  schema: S,
  raw: unknown,
): { readonly [K in keyof z.output<S>]?: z.output<S>[K] | undefined };
export function validKeys({ shape }: z.ZodObject, raw: unknown): Readonly<Record<string, unknown>> {
  const given: Readonly<Record<string, unknown>> = typeof raw === 'object' ? { ...raw } : {};
  const read = Object.entries(shape).map(([key, schema]) => [key, z.safeParse(schema, given[key]).data]);
  return Object.fromEntries(read);
}

/** The message of an issue whose schema has none; the others name what they expect. */
function allowedKeys({ code, inst }: z.core.$ZodRawIssue): string {
  return code === 'unrecognized_keys' && inst instanceof z.ZodObject
    ? Object.keys(inst.shape).toSorted().join(', ')
    : '';
}

function reportZod(file: YamlFile, issue: ZodIssue, above: NodePath): void {
  const path = [...above, ...issue.path];
  if (issue.code === 'unrecognized_keys') {
    for (const key of issue.keys) reportUnknown(file, [...path, key], issue.message);
    return;
  }
  const best = issue.code === 'invalid_union' ? closestOption(issue.errors) : undefined;
  if (best !== undefined) {
    for (const inner of best) reportZod(file, inner, path);
    return;
  }
  const message = `${dotted(path)}${describe(issue, locate(file, path))}`;
  if (issue.code === 'invalid_key') reportKey(file, path, message);
  else report(file, path, message);
}

function reportUnknown(file: YamlFile, path: NodePath, known: string): void {
  const key = String(path.at(-1));
  const near = nearestWord(key, known.split(', '));
  const fix = near === undefined ? `the keys here are ${known}` : `did you mean ${quoted(near)}?`;
  reportKey(file, path, `unknown key ${quoted(key)}; ${fix}`);
}

/** The option of a union that was probably intended: the right type, and the fewest problems. */
function closestOption(options: readonly (readonly ZodIssue[])[]): readonly ZodIssue[] | undefined {
  return options
    .filter((issues) => !issues.some((issue) => issue.code === 'invalid_type' && issue.path.length === 0))
    .toSorted((a, b) => a.length - b.length)[0];
}

function describe(issue: ZodIssue, located: Located): string {
  const expected = issue.message === '' ? undefined : issue.message;
  if (issue.code === 'custom') {
    const isMissing = located.node === undefined && located.key === undefined;
    return isMissing ? `is missing; it ${issue.message}` : issue.message;
  }
  if (issue.code === 'invalid_type') return describeType(issue.expected, expected, located);
  if (issue.code === 'invalid_value') {
    return `must be ${listed(issue.values.map(String))}${suggestion(located, issue.values.map(String))}`;
  }
  if (issue.code === 'too_small') {
    if (issue.origin === 'string') return 'must not be empty';
    return issue.origin === 'array' ? 'must not be an empty list' : `must be at least ${issue.minimum}`;
  }
  if (issue.code === 'too_big')
    return issue.origin === 'array'
      ? `has more than ${issue.maximum} entries; remove some`
      : `must be at most ${issue.maximum}`;
  if (issue.code === 'invalid_key')
    return 'a key here may have only letters, digits, ".", "_" and "-"; rename it';
  return expected === undefined ? 'this value is not allowed here' : `must be ${expected}`;
}

function describeType(type: string, expected: string | undefined, located: Located): string {
  const { node, key } = located;
  if (node === undefined && key === undefined)
    return `is missing; add ${expected === undefined ? 'it' : expected}`;
  if (node === undefined || (isScalar(node) && node.value === null && node.source === '')) {
    return 'has no value; write one or remove the line';
  }
  // Where a form is expected, quotes alone are seldom enough.
  if (type === 'string' && isMistyped(node) && expected === undefined)
    return `YAML does not read this as text; quote it: ${quoted(node.source)}`;
  return `must be ${expected ?? TYPE_NAMES[type] ?? 'something else'}`;
}

function suggestion({ node }: Located, values: readonly string[]): string {
  const written =
    isScalar(node) && typeof node.value === 'string' ? nearestWord(node.value, values) : undefined;
  return written === undefined ? '' : `; did you mean ${written}?`;
}

function listed(values: readonly string[]): string {
  return values.length < 2 ? values.join('') : `${values.slice(0, -1).join(', ')} or ${values.at(-1) ?? ''}`;
}

function dotted(path: NodePath): string {
  if (path.length === 0) return '';
  const text = path
    .map((step) => (typeof step === 'number' ? `[${step + 1}]` : `.${shownKey(String(step))}`))
    .join('');
  return `${text.replace(/^\./u, '')}: `;
}

/** A key as part of a path in a message. The name of a region may be any text, even a token. */
function shownKey(key: string): string {
  return /^\P{C}{1,80}$/u.test(key) && !holdsToken(key) ? key : quoted(key);
}
