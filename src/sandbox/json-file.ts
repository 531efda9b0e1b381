// Reads the JSON files of `--seed` and `--faults`. An error names the file, line and column.

import { readFileSync } from 'node:fs';
import { SandboxError } from './sandbox-error.ts';

const SPACE = /[ \t\r\n]*/y;
const STRING = /"(?:[^"\\\p{Cc}]|[\x7f-\x9f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/uy;
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;

/** The first syntax error of a JSON text. JSON.parse does not always report its position. */
class JsonSyntaxError extends Error {
  readonly offset: number;
  constructor(offset: number, expected: string) {
    super(expected);
    this.offset = offset;
  }
}

function skip(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

function expectString(text: string, at: number): number {
  const end = skip(STRING, text, at);
  if (end === at)
    throw new JsonSyntaxError(at, text[at] === '"' ? 'a string that ends on the same line' : 'a string');
  return end;
}

function walkItems(text: string, start: number, close: string, item: (at: number) => number): number {
  let at = skip(SPACE, text, start + 1);
  if (text[at] === close) return at + 1;
  for (;;) {
    at = skip(SPACE, text, item(at));
    if (text[at] === close) return at + 1;
    if (text[at] !== ',') throw new JsonSyntaxError(at, `"," or "${close}"`);
    at = skip(SPACE, text, at + 1);
  }
}

function walkValue(text: string, start: number): number {
  const at = skip(SPACE, text, start);
  if (text[at] === '[') return walkItems(text, at, ']', (from) => walkValue(text, from));
  if (text[at] === '{') {
    return walkItems(text, at, '}', (from) => {
      const colon = skip(SPACE, text, expectString(text, from));
      if (text[colon] !== ':') throw new JsonSyntaxError(colon, '":"');
      return walkValue(text, colon + 1);
    });
  }
  if (text[at] === '"') return expectString(text, at);
  const end = skip(SCALAR, text, at);
  if (end === at) throw new JsonSyntaxError(at, 'a value');
  return end;
}

function findSyntaxError(text: string): JsonSyntaxError {
  try {
    const end = skip(SPACE, text, walkValue(text, 0));
    return new JsonSyntaxError(end, 'the end of the file');
  } catch (error) {
    if (error instanceof JsonSyntaxError) return error;
    throw error;
  }
}

/** The value in a JSON file. Throws `SandboxError` as `file:line:column: what is wrong`. */
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
    const { offset, message } = findSyntaxError(text);
    const before = text.slice(0, offset).split('\n');
    const place = `${file}:${before.length}:${(before.at(-1)?.length ?? 0) + 1}`;
    const actual = offset < text.length ? JSON.stringify(text[offset]) : 'the end of the file';
    throw new SandboxError('file', `${place}: not valid JSON: expected ${message}, found ${actual}`, {
      cause,
    });
  }
}
