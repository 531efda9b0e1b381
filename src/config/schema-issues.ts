// Converts zod's issues to messages with a position in the file, and finds the schema of a value.
import { z } from 'zod';
import {
  type NodePath,
  type Located,
  isMistyped,
  locate,
  spotOf,
  type YamlFile,
  quoted,
} from './yaml/yaml-file.ts';
import { isScalar } from 'yaml';
import type { ConfigIssue } from '../core/errors.ts';
import { holdsToken } from '../core/secret-looks.ts';
import { expectations, neverShown } from './field-formats.ts';
import { MAX_FILE_ISSUES, type Uncounted } from '../core/issue-limit.ts';
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

/**
 * Checks `value` against `schema`. Returns the converted settings, or the problems with their positions in `file`. If
 * there are too many problems, only the first are returned, and the others are counted.
 */
export function checkAgainstSchema<S extends z.ZodType>(
  file: YamlFile,
  schema: S,
  value: unknown,
): {
  readonly settings?: z.output<S>;
  readonly issues: readonly ConfigIssue[];
  readonly uncounted?: Uncounted;
} {
  const result = schema.safeParse(value);
  if (result.success) return { settings: result.data, issues: [] };
  const { first: shown, further } = firstOf(result.error.issues);
  const issues = shown.flatMap((issue) => toIssues(file, schema, issue, []));
  const [first] = issues;
  return further === 0 || first === undefined
    ? { issues }
    : { issues, uncounted: { file: first.file, errors: further } };
}

/** The schemas that apply at each step of `path`, from the root; several within a union. */
export function alongPath(root: z.ZodType, path: NodePath): readonly (readonly z.ZodType[])[] {
  const steps: (readonly z.ZodType[])[] = [bare(root)];
  for (const step of path) steps.push((steps.at(-1) ?? []).flatMap((schema) => within(schema, step)));
  return steps;
}

/** The keys that these schemas allow in a mapping, sorted. */
export function knownKeys(schemas: readonly z.ZodType[]): readonly string[] {
  const keys = schemas.flatMap((schema) => (schema instanceof z.ZodObject ? Object.keys(schema.shape) : []));
  return [...new Set(keys)].toSorted();
}

/** The issues up to the limit of one file, and the number of the others; each unknown key counts as one. */
function firstOf(issues: readonly ZodIssue[]): { first: readonly ZodIssue[]; further: number } {
  const first: ZodIssue[] = [];
  let room = MAX_FILE_ISSUES;
  let further = 0;
  for (const issue of issues) {
    const problems = issue.code === 'unrecognized_keys' ? issue.keys.length : 1;
    if (room > 0) {
      first.push(issue.code === 'unrecognized_keys' ? { ...issue, keys: issue.keys.slice(0, room) } : issue);
    }
    further += Math.max(problems - room, 0);
    room = Math.max(room - problems, 0);
  }
  return { first, further };
}

function toIssues(file: YamlFile, schema: z.ZodType, issue: ZodIssue, above: NodePath): ConfigIssue[] {
  const path = [...above, ...issue.path];
  const schemas = alongPath(schema, path);
  const secretAt = schemas.findIndex((step) => step.some((option) => neverShown.get(option) !== undefined));
  if (secretAt !== -1) return [secretIssue(file, schemas[secretAt] ?? [], path.slice(0, secretAt))];
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => unknownKey(file, [...path, key], schemas.at(-1) ?? []));
  }
  if (issue.code === 'invalid_union') {
    const best = closestOption(issue.errors);
    if (best !== undefined) return best.flatMap((inner) => toIssues(file, schema, inner, path));
  }
  const located = locate(file, path);
  const spot = issue.code === 'invalid_key' ? (located.key ?? located.parent) : spotOf(located);
  return [file.issue(spot, `${dotted(path)}${describe(issue, located, schemas.at(-1) ?? [])}`)];
}

function secretIssue(file: YamlFile, schemas: readonly z.ZodType[], path: NodePath): ConfigIssue {
  const located = locate(file, path);
  const message =
    schemas.map((schema) => neverShown.get(schema)?.message).find((text) => text !== undefined) ?? '';
  const missing = located.key === undefined && located.node === undefined;
  return file.issue(spotOf(located), missing ? `${String(path.at(-1))} is missing; ${message}` : message);
}

function unknownKey(file: YamlFile, path: NodePath, schemas: readonly z.ZodType[]): ConfigIssue {
  const known = knownKeys(schemas);
  const key = String(path.at(-1));
  const forms = schemas
    .map((schema) => expectations.get(schema)?.expected)
    .find((text) => text !== undefined);
  if (known.includes(key) && forms !== undefined) {
    const message = `${dotted(path.slice(0, -1))}${quoted(key)} does not go with the other keys here; write ${forms}`;
    const { key: node, parent } = locate(file, path);
    return file.issue(node ?? parent, message);
  }
  const near = nearestWord(key, known);
  const fix = near === undefined ? `the keys here are ${known.join(', ')}` : `did you mean ${quoted(near)}?`;
  const { key: node, parent } = locate(file, path);
  return file.issue(node ?? parent, `unknown key ${quoted(key)}; ${fix}`);
}

/** The option of a union that was probably intended: the right type, and the fewest problems. */
function closestOption(options: readonly (readonly ZodIssue[])[]): readonly ZodIssue[] | undefined {
  return options
    .filter((issues) => !issues.some((issue) => issue.code === 'invalid_type' && issue.path.length === 0))
    .toSorted((a, b) => a.length - b.length)[0];
}

function describe(issue: ZodIssue, located: Located, schemas: readonly z.ZodType[]): string {
  const expected = schemas
    .map((schema) => expectations.get(schema)?.expected)
    .find((text) => text !== undefined);
  if (issue.code === 'custom') return issue.message;
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
  if (type === 'string' && isMistyped(node)) {
    const quote = `YAML does not read this as text; quote it: ${quoted(node.source)}`;
    return expected === undefined ? quote : `must be ${expected}; ${quote}`;
  }
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

function within(schema: z.ZodType, step: PropertyKey): readonly z.ZodType[] {
  if (schema instanceof z.ZodObject) return bare(schema.shape[String(step)]);
  if (schema instanceof z.ZodArray) return bare(schema.element);
  if (schema instanceof z.ZodRecord) return bare(schema.valueType);
  return [];
}

/** The schemas inside defaults, optionals, conversions and unions. A union itself stays in the list. */
function bare(schema: unknown): readonly z.ZodType[] {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodPrefault) return bare(schema.unwrap());
  if (schema instanceof z.ZodPipe) return bare(schema.in);
  if (schema instanceof z.ZodUnion) return [schema, ...schema.options.flatMap(bare)];
  return schema instanceof z.ZodType ? [schema] : [];
}
