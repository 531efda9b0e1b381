// Configuration files as accidents and attackers leave them: real files that are damaged step by step, and an oracle
// for the issues that a load must report. The property test uses it, and test/long does for much longer.
import type { Configuration } from '../../src/core/settings.ts';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { type Document, parseDocument } from 'yaml';
import { type ConfigurationFiles, filesFromMemory } from '../../src/config/configuration-files.ts';
import { loadConfiguration } from '../../src/config/load-configuration.ts';
import { MAX_FILE_BYTES, decode, tooLarge } from '../../src/config/yaml/source-text.ts';
import type { ConfigIssue } from '../../src/core/errors.ts';

const ROOT = '/r';
const CONFIG = fileURLToPath(new URL('../../config/', import.meta.url));
const real = (file: string): string => readFileSync(path.join(CONFIG, file), 'utf8');

/** The account that is not damaged: it loads whatever happens to the others. */
const FINE = 'accounts/fine.yaml';
const RICH = 'accounts/rich.yaml';

const FILES: Readonly<Record<string, string>> = {
  'rolecall.yaml': real('rolecall.yaml'),
  'accounts/acme-eu.yaml': real('accounts/acme-eu.yaml'),
  'accounts/acme-us.yaml': real('accounts/acme-us.yaml'),
  [RICH]: [
    'baseUrl: "https://rich.example.com"',
    'token: { file: /run/secrets/rich }',
    'schedule: "*/5 8-18 * * MON-FRI"',
    'extends: [../catalogs/engineering.yaml]',
    'policy: &policy { maxDeletes: 5, protect: ["Admin*"], freeze: [{ from: 2026-12-24, to: 2026-12-31 }] }',
    'skills:',
    '  - &ts TypeScript',
    '  - name: "Kubernetes"',
    "    formerly: [K8s, 'k8s']",
    '  - >-',
    '    Project',
    '    management',
    'roles: [Ärztin, "UX: design", 日本語]',
    'approvedDeletes:',
    '  - { kind: skill, name: Perl, expires: 2026-12-31 }',
    '',
  ].join('\n'),
  'catalogs/engineering.yaml': real('catalogs/engineering.yaml'),
  [FINE]: 'baseUrl: https://fine.example.com\ntoken: { env: FINE_TOKEN }\nskills: [Fine]\n',
};

/** The files that can be damaged. */
export const TARGETS = Object.keys(FILES).filter((file) => file !== FINE);

const TOKENS = [
  '[', ']', '{', '}', ',', ': ', ':', '- ', '-', '? ', '&a ', '*a', '*policy', '*ts', '!t ', '!!binary ', '!!js/function ', '| ',
  '>-\n', '"', "'", '#', ' #', '%YAML 1.1\n', '%TAG ! tag:x,2000:\n', '\n---\n', '\n...\n', '@', '`', '\\', '\t', '\n', '\r',
  '\r\n', '\0', '\u0085', '\u2028', '\ufeff', '\u200b', '\u0301', '<<: ', '__proto__: ', 'constructor: ', 'null', '~', 'true',
  '1.0', '012', '0x1f', '1e999', '.nan', '9'.repeat(400), 'skills: ', 'roles: []\n', 'token: s3cret-value\n', 'region: eu\n',
  '\n<<<<<<< HEAD\n', '\n=======\n', '\n>>>>>>> b\n', '\n||||||| a\n', '\ud800', '\u{1f600}', '${X}', 'a'.repeat(2000),
  '['.repeat(50), '- '.repeat(40), 'é', '"\\u0000"', '"\\ud800"', '{{ x }}',
] as const; // prettier-ignore

type Bytes = Buffer<ArrayBufferLike>;
type Damage = (text: Bytes, at: number, length: number, token: string) => Bytes;

const lineWise =
  (change: (lines: string[], at: number, length: number, token: string) => void): Damage =>
  (text, at, length, token) => {
    const lines = text.toString('latin1').split('\n');
    change(lines, at % lines.length, 1 + (length % 4), Buffer.from(token).toString('latin1'));
    return Buffer.from(lines.join('\n'), 'latin1');
  };

const replaceAll = (text: Bytes, from: string, to: string): Bytes =>
  Buffer.from(text.toString('latin1').replaceAll(from, to), 'latin1');

const splice = (text: Bytes, at: number, removed: number, added: Bytes): Bytes =>
  Buffer.concat([text.subarray(0, at), added, text.subarray(at + removed)]);

/** The ways to damage a file. `at` and `length` are any whole numbers. */
const DAMAGES = {
  flip: (text, at, length) => {
    const copy = Buffer.from(text);
    if (copy.length > 0) copy[at % copy.length] = (copy[at % copy.length] ?? 0) ^ (1 << (length % 8));
    return copy;
  },
  cut: (text, at, length) => splice(text, at % (text.length + 1), 1 + (length % 8), Buffer.alloc(0)),
  truncate: (text, at) => text.subarray(0, at % (text.length + 1)),
  insert: (text, at, _, token) => splice(text, at % (text.length + 1), 0, Buffer.from(token)),
  overwrite: (text, at, length, token) =>
    splice(text, at % (text.length + 1), 1 + (length % 8), Buffer.from(token)),
  repeat: (text, at, length) => {
    const from = at % (text.length + 1);
    const piece = text.subarray(from, from + 1 + (length % 40));
    return splice(text, from, 0, Buffer.concat(Array.from({ length: 1 + (length % 60) }, () => piece)));
  },
  deleteLine: lineWise((lines, at, length) => void lines.splice(at, length)),
  doubleLine: lineWise((lines, at, length) => void lines.splice(at, 0, ...lines.slice(at, at + length))),
  swapLines: lineWise((lines, at, length) => {
    const [line = ''] = lines.splice(at, 1);
    lines.splice((at + length) % (lines.length + 1), 0, line);
  }),
  indent: lineWise((lines, at, length) => {
    for (let i = at; i < Math.min(at + length, lines.length); i += 1) lines[i] = ` ${lines[i] ?? ''}`;
  }),
  dedent: lineWise((lines, at, length) => {
    for (let i = at; i < Math.min(at + length, lines.length); i += 1) lines[i] = (lines[i] ?? '').slice(1);
  }),
  tabs: lineWise((lines, at) => void (lines[at] = (lines[at] ?? '').replace(/^ */u, '\t'))),
  conflict: lineWise((lines, at, length) => {
    const ours = lines.slice(at, at + length);
    lines.splice(
      at,
      length,
      '<<<<<<< HEAD',
      ...ours,
      '||||||| 9fceb02',
      '=======',
      ...ours.slice(1),
      '>>>>>>> topic',
    );
  }),
  leftover: lineWise((lines, at, length) => {
    lines.splice(at, 0, ['<<<<<<<', '=======', '||||||| x', '>>>>>>> topic'][length % 4] ?? '');
  }),
  value: lineWise((lines, at, _, token) => {
    lines[at] = (lines[at] ?? '').replace(/(?<=[:-] ).*$/u, () => token);
  }),
  crlf: (text) => replaceAll(replaceAll(text, '\r\n', '\n'), '\n', '\r\n'),
  cr: (text) => replaceAll(text, '\n', '\r'),
  bom: (text) => Buffer.concat([Buffer.from('\ufeff'), text]),
  utf16: (text) => Buffer.from(text.toString('utf8'), 'utf16le'),
  utf16Mark: (text) => Buffer.from(`\ufeff${text.toString('utf8')}`, 'utf16le'),
  latin1: (text) => Buffer.from(text.toString('utf8'), 'latin1'),
  twice: (text) => Buffer.concat([text, text]),
  documents: (text) => Buffer.concat([text, Buffer.from('---\n'), text]),
} satisfies Record<string, Damage>;

export type DamageKind = keyof typeof DAMAGES;
const KINDS = Object.keys(DAMAGES) as DamageKind[];

export interface Mutant {
  readonly target: string;
  readonly steps: readonly (readonly [kind: DamageKind, at: number, length: number, token: string])[];
}

export const mutant: fc.Arbitrary<Mutant> = fc.record({
  target: fc.constantFrom(...TARGETS),
  steps: fc.array(
    fc.tuple(fc.constantFrom(...KINDS), fc.nat(4000), fc.nat(1000), fc.constantFrom(...TOKENS)),
    { minLength: 1, maxLength: 4 },
  ),
});

/** The bytes of the damaged file. */
export function damaged({ target, steps }: Mutant): Bytes {
  return steps.reduce<Bytes>(
    (text, [kind, at, length, token]) => DAMAGES[kind](text, at, length, token),
    Buffer.from(FILES[target] ?? ''),
  );
}

export interface Judged {
  readonly loaded: Configuration;
  /** What is wrong with the result; empty when it is as documented. */
  readonly complaints: readonly string[];
}

/** Loads the real files with `bytes` in place of one of them, and returns what in the result is not as documented. */
export async function judge(target: string, bytes: Bytes): Promise<Judged> {
  // Only the files that are needed, because each costs a millisecond.
  const needed = [
    'rolecall.yaml',
    FINE,
    'catalogs/engineering.yaml',
    target.startsWith('catalogs/') ? RICH : target,
  ];
  const whole = Object.fromEntries(needed.map((file) => [file, FILES[file] ?? '']));
  const memory = filesFromMemory(ROOT, whole);
  const damagedPath = path.join(ROOT, target);
  const files: ConfigurationFiles = {
    ...memory,
    read(file) {
      if (file !== damagedPath) return memory.read(file);
      const named = { path: file, shown: target };
      return bytes.length > MAX_FILE_BYTES ? tooLarge(named, bytes.length) : decode(named, bytes);
    },
  };
  const loaded = await loadConfiguration(`${ROOT}/rolecall.yaml`, { files, today: '2026-06-15' });
  const texts = { ...whole, [target]: readable(bytes) };
  const complaints = loaded.issues.flatMap((issue) => issueComplaints(issue, texts));
  return { loaded, complaints: [...complaints, ...loadComplaints(loaded, target, texts)] };
}

/**
 * The text as the loader counts it. In invalid UTF-8 each byte is one character, so that there are never fewer
 * characters.
 */
function readable(bytes: Bytes): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return bytes.toString('latin1');
  }
}

/** Every message contains one of these words: it states what to do, or what is valid. */
const ADVICE =
  /\b(?:add|ask|close|did you mean|indent|is it meant|keep|known regions|correct|change|make|mend|must|quote|put|remove|rename|renew|resolve|run|save|split|start|swap|take|the keys here|the minimum|the maximum|try|use|write)\b|is a .* (?:misplaced|missing)|in quotes/u;

function issueComplaints(issue: ConfigIssue, texts: Readonly<Record<string, string>>): string[] {
  const { file, line, column, message } = issue;
  const place = `${file}:${line}:${column}: ${message}`;
  const text = texts[file];
  if (text === undefined) return file === '.' ? [] : [`no such file: ${place}`];
  const found: string[] = [];
  const lines = text.split('\n');
  if (!Number.isInteger(line) || line < 1 || line > lines.length) found.push(`no such line: ${place}`);
  else if (!Number.isInteger(column) || column < 1 || column > (lines[line - 1] ?? '').length + 1)
    found.push(`no such column: ${place}`);
  if (!ADVICE.test(message)) found.push(`no advice: ${place}`);
  if (/\p{Cc}/u.test(message) || message.length > 1000) found.push(`unreadable: ${JSON.stringify(place)}`);
  if (message.includes('s3cret')) found.push(`a secret: ${place}`);
  return found;
}

function loadComplaints(
  loaded: Configuration,
  target: string,
  texts: Readonly<Record<string, string>>,
): string[] {
  const found: string[] = [];
  const isError = ({ severity }: ConfigIssue): boolean => severity === 'error';
  const isBlamed = loaded.issues.some((issue) => issue.file === target && isError(issue));
  const [noYaml] = isBlamed ? [] : plainDocument(texts[target] ?? '').errors;
  if (noYaml !== undefined) found.push(`${target} is not YAML, and no issue reports it: ${noYaml.message}`);
  if (loaded.service === undefined && !loaded.issues.some(isError))
    found.push('there is no service, and no issue reports it');
  for (const account of loaded.accounts) {
    if (account.settings !== undefined) found.push(...namesLost(account, texts));
    else if (loaded.service !== undefined && !account.issues.some(isError))
      found.push(`${account.name} is missing, and no issue reports it`);
  }
  const fine = loaded.accounts.find(({ name }) => name === 'fine');
  const isMatched = target !== 'rolecall.yaml' || loaded.service !== undefined;
  if (target !== 'rolecall.yaml' && fine?.settings === undefined) found.push('the fine account was lost');
  if (isMatched && fine !== undefined && fine.issues.length > 0) found.push('the fine account was blamed');
  return found;
}

/** A valid account desires exactly the names of its files, as a plain reading of the YAML returns them. */
function namesLost(
  { name, settings }: Configuration['accounts'][number],
  texts: Readonly<Record<string, string>>,
): string[] {
  const written = plainly(texts[`accounts/${name}.yaml`] ?? '');
  const extended = Array.isArray(written['extends']) ? plainly(texts['catalogs/engineering.yaml'] ?? '') : {};
  return (['skill', 'role'] as const).flatMap((kind) => {
    const lists = [extended[`${kind}s`], written[`${kind}s`]];
    const expected = lists.every((list) => list === undefined)
      ? undefined
      : [...new Set(lists.flatMap((list) => (Array.isArray(list) ? list.map(nameOf) : [])))].toSorted();
    const desired = settings?.desired[kind]?.map((entry) => entry.name).toSorted();
    return JSON.stringify(desired) === JSON.stringify(expected)
      ? []
      : [
          `${name} desires the ${kind}s ${JSON.stringify(desired)}, and the file lists ${JSON.stringify(expected)}`,
        ];
  });
}

function plainly(text: string): Readonly<Record<string, unknown>> {
  const value: unknown = plainDocument(text).toJS({ maxAliasCount: -1 });
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

/** In YAML a carriage return alone ends a line, which our parser does not support. */
function plainDocument(text: string): Document.Parsed {
  return parseDocument(text.replaceAll(/\r(?!\n)/gu, '\n'), { logLevel: 'silent' });
}

function nameOf(entry: unknown): string {
  const name = typeof entry === 'object' && entry !== null && 'name' in entry ? entry.name : entry;
  return String(name).normalize('NFC');
}
