// The first step of loading: decodes the bytes of a file to text, or reports an issue with its position.
import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import path from 'node:path';
import type { ConfigIssue } from '../../core/errors.ts';

/** Larger files are rejected without reading them; any smaller file can be checked within two seconds. */
export const MAX_FILE_BYTES = 1024 * 1024;

const decoder = new TextDecoder();

/** A configuration file's text, without a byte order mark. */
export interface SourceText {
  /** Absolute. */
  readonly path: string;
  /** How issues name the file. */
  readonly shown: string;
  readonly text: string;
}

/** The text, or the issue that prevented the read. */
export type SourceRead = {
  /** Equal for equal bytes, or for the same issue. */
  readonly digest: string;
} & ({ readonly source: SourceText } | { readonly issue: ConfigIssue; readonly missing: boolean });

/** A file: its path, and its name in messages. */
export type NamedFile = Pick<SourceText, 'path' | 'shown'>;

/** The name of a file in an issue: relative if it is below the working directory, otherwise absolute. */
export function shownPath(file: string): string {
  const relative = path.relative(process.cwd(), file);
  return relative === '' || relative.startsWith('..') || path.isAbsolute(relative) ? file : relative;
}

/** The result for a file that cannot be read; `message` has the reason and the fix. */
export function refusal(
  { shown }: NamedFile,
  message: string,
  { line = 1, column = 1, missing = false } = {},
): SourceRead {
  const issue: ConfigIssue = { file: shown, line, column, message, severity: 'error' };
  return { digest: `${missing} ${line}:${column} ${message}`, issue, missing };
}

export function missingFile(file: NamedFile): SourceRead {
  return refusal(file, 'the file does not exist', { missing: true });
}

/** The result for a file of more than MAX_FILE_BYTES. */
export function tooLarge(file: NamedFile, bytes: number): SourceRead {
  const message = `the file has ${bytes} bytes, more than the limit of ${MAX_FILE_BYTES}; split it with \`extends\``;
  return refusal(file, message);
}

/** Decodes the bytes of a file. */
export function decode(file: NamedFile, bytes: Buffer): SourceRead {
  if ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)) {
    return refusal(file, 'the file is UTF-16; save it as UTF-8');
  }
  if (!isUtf8(bytes)) return notUtf8(file, firstInvalid(bytes));
  // Unlike `toString`, drops the byte order mark.
  const text = decoder.decode(bytes);
  return { digest: hash('sha256', bytes, 'base64'), source: { ...file, text } };
}

/** The result for a file that is not valid UTF-8 at this position. */
export function notUtf8(file: NamedFile, place: { line: number; column: number }): SourceRead {
  return refusal(file, 'the file is not valid UTF-8 here; save it as UTF-8', place);
}

/**
 * A copy that does not share memory with its source. The parser returns slices of the file's text, which keep the
 * complete text in memory. Texts of fewer than 13 characters are never slices.
 */
export function detached(text: string): string {
  return text.length < 13 ? text : (JSON.parse(JSON.stringify(text)) as string);
}

function firstInvalid(bytes: Buffer): { line: number; column: number } {
  let line = 1;
  for (let start = 0; start <= bytes.length; line += 1) {
    const newline = bytes.indexOf(0x0a, start);
    const end = newline === -1 ? bytes.length : newline;
    const slice = bytes.subarray(start, end);
    if (!isUtf8(slice)) return { line, column: validPrefix(slice) + 1 };
    start = end + 1;
  }
  return { line: 1, column: 1 };
}

/** The number of UTF-16 units in the line before the first invalid byte. */
function validPrefix(line: Buffer): number {
  let end = 0;
  for (let next = 1; next <= line.length; next += 1) {
    // A character has at most four bytes, so only the last ones can be incomplete.
    if (isUtf8(line.subarray(end, next))) end = next;
    else if (next - end >= 4) break;
  }
  return line.subarray(0, end).toString('utf8').length;
}
