// Random configuration files for the comparison of the two YAML parsers: most are close to a usual account file, and
// the others are damaged by what YAML treats specially.
import { type Node, isCollection, isMap, isPair, isScalar } from 'yaml';
import { inspectNodes } from '../../src/yaml/alias-limits.ts';
import { parseSimpleYaml } from '../../src/yaml/simple-yaml.ts';
import { parseQuietly } from '../../src/yaml/yaml-file.ts';
import { pick, randomNumbers } from './random.ts';

type Random = () => number;

const SCALARS = [
  'TypeScript', 'C', 'C#', 'C #', 'C # x', 'F# and more', 'A: b', 'a:b', 'https://eu.example.com/a#b', 'x:', ':x', 'Node.js', '.NET', '../catalogs/a.yaml', './a', '.../a', '[../catalogs/a.yaml, /run/a, ./b, .c]', '[.inf, (a), .5]', '/run/secrets/a',
  '.5', '.inf', '.NaN', '.nan', '-.inf', '.', '..', '...', '---', '--- a', '1', '0', '012', '1.0', '1.', '1e3', '1E-3', '+1', '-1',
  '0x1f', '0o17', '0b1', '1_000', '2026-12-31', '2026-12-24T18:00:00Z', '12:30', '3D', '3D Studio', '99999999999999999999', '1234567890',
  'true', 'True', 'TRUE', 'tRue', 'false', 'null', 'Null', '~', '~x', 'yes', 'no', 'on', 'Off', 'y', '', ' ', '"quoted"', '"a b" c',
  '"a\\tb"', '"\\u00e9"', '"a', '"a\n  b"', "'single'", "'it''s'", "'", "''", "'''", "''''", "'a' # b", "'a'# b", '"#"', '"a: b"', '[]', '[ ]',
  '[a]', '[a, b]', '[a, b,]', '[ a , b ]', '[a b, "c, d"]', "['x''y']", '[a: b]', '[1, a]', '[a, [b, c]]', '[a', '[a\n  , b]', '[a #b]',
  '[a, # b\n c]', '[true]', '["a":b]', '[a b c ]', '[,]', '[a,,b]', '{}', '{ env: TOKEN }', '{env: TOKEN}', '{ env:TOKEN }', '{env: }',
  '{ a: 1, b: 2 }', '{ a: 1, a: 2 }', '{ a }', '{ a: b: c }', '{ a: [x, { b: c }] }', '{"a": b}', '{ a: "b" , c: d}', '{ a: b', '{a: b}x',
  '{ a: true, n: null }', '- a', '- - a', '-', '-a', '- a: b', '? a', '?a', '&a b', '*a', '!t b', '!!str 1', '!', '|', '>-', '|\n   text\n   more',
  '>-\n    folded\n    text', '@a', '`a`', '%a', '%', 'a%', 'a & b', 'a*', 'a, b', 'a] b', 'a} b', '(a)', '/a', '_a', 'Ärztin', 'A\u0308rztin',
  '日本語', '\u00a0x', 'x\u00a0', 'x\u2003y', '\u200bx', 'x\u0085y', 'x\u2028y', '\ufeffx', '\u{1f600}', 'x\u{1f600}', '\ud800', 'x\udc00', '\0', 'a\0', '\u0007',
  'a\tb', '\ta', 'a\t', 'a \t# b', 'a  ', 'a  # b', 'a#', 'a #', '#', '# a', 'a b', 'a\n  b', 'a\n b', 'a\nb', '<<', '=', '!!binary x', 'a"b"', "a'b'",
  'a - b', 'a -', 'name: x', 'name: x\n    formerly: [y]', 'name: x\n    formerly:\n    - y\n    - z', 'name:', 'K'.repeat(1100),
] as const; // prettier-ignore

const KEYS = [
  'region', 'skills', 'roles', 'token', 'policy', 'maxDeletes', 'name', 'formerly', 'extends', 'a', 'b', 'a-b', 'a_b', 'true', 'null', 'y', '1',
  '"a"', "'b'", '<<', '? a', '*a', '&k a', '!t a', 'a b', 'Ä', '.a', '-a', '[a]', '{a}', 'k'.repeat(99), 'k'.repeat(101), 'k'.repeat(1100),
] as const; // prettier-ignore

const TOKENS = [
  ' ', '  ', '\n', '\n\n', '\n  ', '\n ', '\t', '\r', '\r\n', '\0', '\u0085', '\u2028', '\ufeff', '\u{1f600}', '\ud800', '\u0308', '"', "'", '#', ' #', '# ',
  ':', ': ', ':\n', '-', '- ', '\n- ', '\n  - ', '? ', '[', ']', '{', '}', ',', ', ', '&a ', '*a', '!t ', '|', '>-', '|\n', '%', '@', '`', '\\', '<<: ',
  '\n---\n', '---\n', '\n...\n', '%YAML 1.2\n---\n', '\n<<: *a\n', '~', 'null', 'true', '1', '0', '.', 'e', 'a', 'x: y', '\na: b\n', '\n# note\n', '\n  # note\n',
] as const; // prettier-ignore

const COMMENTS = ['# note', '#', '# a: b', '#- a', '#\t', '# "'] as const;

/** A text by its number; the same in every run. */
export function yamlText(number: number): string {
  const random = randomNumbers(number * 2_654_435_761);
  let text = block(random, 0, 3);
  if (random() < 0.1) text = `---\n${text}`;
  if (random() < 0.05) text = text.trimEnd();
  for (let damages = Math.floor(random() ** 2 * 4); damages > 0; damages -= 1) text = damaged(random, text);
  return text;
}

/**
 * Compares the parsers. `other` if the text is not in the simple subset, `equal` if both return the same nodes, and
 * otherwise the first difference.
 */
export function compareParsers(text: string): string {
  const simple = parseSimpleYaml(text);
  if (simple === undefined) return 'other';
  const document = parseQuietly(text);
  const [problem] = [...document.errors, ...document.warnings];
  if (problem !== undefined) return `the complete parser reports ${problem.code}`;
  if (document.directives?.yaml.explicit === true) return 'the text has a %YAML directive';
  if (document.contents === null) return 'the text is empty';
  const { targets, duplicateKeys, unknownAliases, excess } = inspectNodes(document.contents);
  if (targets.size + duplicateKeys.length + unknownAliases.length > 0 || excess !== undefined) {
    return 'the text has an alias, a duplicate key, or too many levels';
  }
  return nodeDifference(simple, document.contents, 'root') ?? 'equal';
}

function nodeDifference(simple: unknown, complete: unknown, path: string): string | undefined {
  if (isPair(simple) && isPair(complete)) {
    return (
      nodeDifference(simple.key, complete.key, `${path} key`) ??
      nodeDifference(simple.value, complete.value, `${path}.${String(simple.key)}`)
    );
  }
  const facts = [factsOf(simple), factsOf(complete)].map((of) => JSON.stringify(of));
  if (facts[0] !== facts[1]) return `${path}: ${facts.join(' instead of ')}`;
  if (!isCollection(simple) || !isCollection(complete)) return undefined;
  for (const [index, item] of simple.items.entries()) {
    const found = nodeDifference(item, complete.items[index], `${path}[${index}]`);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** All that the loader reads of a node. Of a block collection it uses only the start. */
function factsOf(node: unknown): unknown {
  if (isScalar(node)) {
    const { value, source, range, tag, anchor } = node;
    return { type: typeof value, value: String(value), source, range: range?.slice(0, 2), tag, anchor };
  }
  if (!isCollection(node)) return 'not a node';
  const { range, flow, items, tag, anchor } = node as Node & { flow?: boolean; items: unknown[] };
  const kind = isMap(node) ? 'mapping' : 'list';
  return {
    kind,
    items: items.length,
    at: range?.[0],
    end: flow === true ? range?.[1] : 0,
    flow: flow === true,
    tag,
    anchor,
  };
}

/** A block mapping whose values are at most `depth` levels deep. */
function block(random: Random, indent: number, depth: number): string {
  const lines: string[] = [];
  const pad = ' '.repeat(indent);
  for (let count = 1 + Math.floor(random() * 4); count > 0; count -= 1) {
    if (random() < 0.15) lines.push(`${random() < 0.5 ? pad : ''}${pick(random, COMMENTS) ?? ''}`);
    if (random() < 0.1) lines.push(random() < 0.7 ? '' : '   ');
    const key = random() < 0.95 ? (KEYS[Math.floor(random() * 13)] ?? '') : (pick(random, KEYS) ?? '');
    const kind = random();
    if (kind < 0.45) lines.push(`${pad}${key}: ${scalar(random)}${comment(random)}`);
    else if (kind < 0.8 || depth === 0)
      lines.push(`${pad}${key}:${comment(random)}`, ...items(random, indent));
    else
      lines.push(`${pad}${key}:`, block(random, indent + 1 + Math.floor(random() * 3), depth - 1).trimEnd());
  }
  return `${lines.join('\n')}\n`;
}

function items(random: Random, indent: number): string[] {
  const pad = ' '.repeat(indent + (random() < 0.2 ? 0 : 2));
  return Array.from({ length: 1 + Math.floor(random() * 4) }, () => {
    const space = random() < 0.9 ? ' ' : '   ';
    return `${pad}-${space}${scalar(random)}${comment(random)}`;
  });
}

/** The half of them are usual, so that many files have no special value. */
function scalar(random: Random): string {
  return random() < 0.8 ? `Name ${Math.floor(random() * 100)}` : (pick(random, SCALARS) ?? '');
}

function comment(random: Random): string {
  return random() < 0.9 ? '' : ` ${pick(random, COMMENTS) ?? ''}`;
}

function damaged(random: Random, text: string): string {
  const at = Math.floor(random() * (text.length + 1));
  const way = random();
  if (way < 0.5) return text.slice(0, at) + (pick(random, TOKENS) ?? '') + text.slice(at);
  if (way < 0.65) return text.slice(0, at) + text.slice(at + 1 + Math.floor(random() * 3));
  if (way < 0.68) return text.replaceAll('\n', '\r\n');
  const lines = text.split('\n');
  const line = Math.floor(random() * lines.length);
  const changed = lines[line] ?? '';
  if (way < 0.8) lines.splice(line, 1, random() < 0.5 ? ` ${changed}` : changed.replace(/^ /u, ''));
  else if (way < 0.9) lines.splice(line, 0, lines[Math.floor(random() * lines.length)] ?? '');
  else lines.splice(line, 1);
  return lines.join('\n');
}
