// Decompresses the body of a response: at most two content codings, and never more bytes than the limit at any stage. A
// compressed body is decompressed when it is complete, since a stream for each of many small ones takes longer than all else.
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { brotliDecompress, brotliDecompressSync, gunzip, gunzipSync, inflate, inflateSync } from 'node:zlib';
import { errorCode } from '../core/errors.ts';

/** A body that cannot be decompressed. The message completes a sentence that starts with the name of the body. */
export class UnreadableBody extends Error {
  override readonly name = 'UnreadableBody';
  /** Whether the body is incomplete. */
  readonly isCutOff: boolean;

  constructor(message: string, { isCutOff = false } = {}) {
    super(message);
    this.isCutOff = isCutOff;
  }
}

/** The cause of a ServiceError `malformed` for an incomplete body. */
export class CutOff extends Error {
  override readonly name = 'CutOff';
}

/** The code of the error for a body that is larger than the limit. */
export const BODY_TOO_LARGE = 'BODY_TOO_LARGE';

/** More codings have no use, except to exhaust the reader. */
const MOST_CODINGS = 2;

const decoder = new TextDecoder('utf-8', { fatal: true });

/** Larger bodies are decompressed in another thread, so that other work runs meanwhile. */
const SMALL_BYTES = 16 * 1024;

const PIECE_BYTES = 64 * 1024;

/** How a coding is decompressed at once, and in another thread. */
const DECOMPRESSORS = {
  gzip: [gunzipSync, promisify(gunzip)],
  'x-gzip': [gunzipSync, promisify(gunzip)],
  deflate: [inflateSync, promisify(inflate)],
  br: [brotliDecompressSync, promisify(brotliDecompress)],
} as const;
type Decompressor = (typeof DECOMPRESSORS)[keyof typeof DECOMPRESSORS];

/** The decompressed bytes. Throws UnreadableBody during the read. A caller that stops early aborts the response. */
export async function* unpacked(
  body: Readable,
  encoding: string | string[] | undefined,
  maxBytes: number,
): AsyncGenerator<Uint8Array> {
  const codings = codingsOf(encoding);
  if (codings.length === 0) return yield* upTo(maxBytes, body);
  const chunks: Uint8Array[] = [];
  for await (const chunk of upTo(maxBytes, body)) chunks.push(chunk);
  let bytes: Uint8Array = Buffer.concat(chunks);
  for (const coding of codings) bytes = await decompressed(bytes, coding, maxBytes);
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES);
}

async function* upTo(maxBytes: number, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw tooLarge();
    yield chunk;
  }
}

function tooLarge(): Error {
  return Object.assign(new Error('too large'), { code: BODY_TOO_LARGE });
}

async function decompressed(bytes: Uint8Array, [now, later]: Decompressor, maxOutputLength: number) {
  try {
    if (bytes.length === 0) return bytes;
    return await (bytes.length > SMALL_BYTES ? later : now)(bytes, { maxOutputLength });
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge();
    throw new UnreadableBody('cannot be decompressed', { isCutOff: code === 'Z_BUF_ERROR' });
  }
}

/** The start of a body as text, for messages: invalid UTF-8 is replaced, and the rest is not read. */
export async function beginningOf(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    bytes += chunk.byteLength;
    if (bytes >= maxBytes) break;
  }
  return new TextDecoder().decode(Buffer.concat(chunks).subarray(0, maxBytes));
}

/** The text of complete bytes, or undefined when they are not UTF-8. */
export function utf8(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

function codingsOf(encoding: string | string[] | undefined): Decompressor[] {
  const names = String(encoding ?? '')
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '' && name !== 'identity');
  if (names.length > MOST_CODINGS) throw new UnreadableBody(`has ${names.length} content codings`);
  return names.toReversed().map((name) => {
    const known = Object.entries(DECOMPRESSORS).find(([coding]) => coding === name);
    if (known === undefined) throw new UnreadableBody('has a content coding that was not requested');
    return known[1];
  });
}
