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
  // Unlike `toString`, drops the byte order mark.
  const text = decoder.decode(bytes);
  // What is not valid is decoded to this character.
  if (!isUtf8(bytes)) return notUtf8(file, text, text.indexOf('\uFFFD'));
  return { digest: hash('sha256', bytes, 'base64'), source: { ...file, text } };
}

/** The result for a file that is not valid UTF-8 at this offset of its text. */
export function notUtf8(file: NamedFile, text: string, at: number): SourceRead {
  return refusal(file, 'the file is not valid UTF-8 here; save it as UTF-8', placeIn(text, at));
}

/** The line and the column of an offset. */
export function placeIn(text: string, at: number): { readonly line: number; readonly column: number } {
  const before = text.slice(0, at).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

/**
 * A copy that does not share memory with its source. The parser returns slices of the file's text, which keep the
 * complete text in memory. Texts of fewer than 13 characters are never slices.
 */
export function detached(text: string): string {
  return text.length < 13 ? text : (JSON.parse(JSON.stringify(text)) as string);
}
