// The first step of loading: one file's bytes become text, or an issue with a position (contract, section 2).
import { isUtf8 } from 'node:buffer';
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import type { ConfigIssue } from '../core/errors.ts';

/** Files beyond this are refused unread; every file below it is judged within two seconds. */
export const MAX_FILE_BYTES = 1024 * 1024;

/** A configuration file's text, without a byte order mark. */
export interface SourceText {
  /** Absolute. */
  readonly path: string;
  readonly text: string;
}

/** Either the text or the one issue that kept it from being read. */
export type SourceRead =
  { readonly source: SourceText } | { readonly issue: ConfigIssue; readonly missing: boolean };

/** How a file is named in an issue: relative to the working directory when it lies below it, else absolute. */
export function shownPath(file: string): string {
  const relative = path.relative(process.cwd(), file);
  return relative === '' || relative.startsWith('..') || path.isAbsolute(relative) ? file : relative;
}

/** Reads `file` (absolute), never throws: whatever is wrong with the file is an issue with a position in it. */
export async function readSource(file: string): Promise<SourceRead> {
  const refuse = (message: string, line = 1, column = 1, missing = false): SourceRead => ({
    issue: { file: shownPath(file), line, column, message, severity: 'error' },
    missing,
  });
  for (let attempt = 0; attempt < 3; attempt += 1) {
    let bytes: Buffer;
    try {
      const before = await stat(file);
      // A pipe or a device would block or never end.
      if (!before.isFile()) return refuse('this is not a regular file; name a YAML file');
      if (before.size > MAX_FILE_BYTES) {
        return refuse(
          `the file has ${before.size} bytes, more than the ${MAX_FILE_BYTES} that are read; split it with \`extends\``,
        );
      }
      bytes = await readFile(file);
      const after = await stat(file);
      if (after.size !== before.size || after.mtimeMs !== before.mtimeMs || after.ino !== before.ino)
        continue;
      if (bytes.length !== after.size) continue;
    } catch (error) {
      const code = errorCode(error);
      return code === 'ENOENT' || code === 'ENOTDIR'
        ? refuse('there is no such file', 1, 1, true)
        : refuse(`the file cannot be read (${code}); check its permissions`);
    }
    return decode(file, bytes, refuse);
  }
  return refuse('the file changed while it was read; try again when it is written completely');
}

function decode(
  file: string,
  bytes: Buffer,
  refuse: (message: string, line?: number, column?: number) => SourceRead,
): SourceRead {
  if ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)) {
    return refuse('the file is UTF-16; save it as UTF-8');
  }
  if (!isUtf8(bytes)) {
    const { line, column } = firstInvalid(bytes);
    return refuse('the file is not valid UTF-8 here; save it as UTF-8', line, column);
  }
  // TextDecoder drops the byte order mark.
  return { source: { path: file, text: new TextDecoder().decode(bytes) } };
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

/** How many UTF-16 units of the line decode before the first bad byte. */
function validPrefix(line: Buffer): number {
  let end = 0;
  for (let next = 1; next <= line.length; next += 1) {
    // A character has at most four bytes, so only the newest ones can still be incomplete.
    if (isUtf8(line.subarray(end, next))) end = next;
    else if (next - end >= 4) break;
  }
  return line.subarray(0, end).toString('utf8').length;
}

/** The `code` of a Node.js error, or `unknown`. */
export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unknown';
}
