// Decompresses the body of a response as a stream: at most two content codings, and never more bytes than the limit at
// any stage. Reads JSON from it in one piece.
import { pipeline, type Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { ServiceError } from '../core/errors.ts';

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

const DECOMPRESSORS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** The decompressed bytes. Throws UnreadableBody during the read. A caller that stops early aborts the response. */
export async function* unpacked(
  body: Readable,
  encoding: string | string[] | undefined,
  maxBytes: number,
): AsyncGenerator<Uint8Array> {
  let bytes: AsyncIterable<Uint8Array> = body;
  for (const create of codingsOf(encoding)) {
    // It throws what the stage before it throws.
    bytes = pipeline(upTo(maxBytes, bytes), withReadableErrors(create()), () => undefined);
  }
  yield* upTo(maxBytes, bytes);
}

async function* upTo(maxBytes: number, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw Object.assign(new Error('too large'), { code: BODY_TOO_LARGE });
    yield chunk;
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
function utf8(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

function codingsOf(encoding: string | string[] | undefined): (() => Transform)[] {
  const names = String(encoding ?? '')
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '' && name !== 'identity');
  if (names.length > MOST_CODINGS) throw new UnreadableBody(`has ${names.length} content codings`);
  return names.toReversed().map((name) => {
    const create = Object.hasOwn(DECOMPRESSORS, name) ? DECOMPRESSORS[name] : undefined;
    if (create === undefined) throw new UnreadableBody('has a content coding that was not requested');
    return create;
  });
}

/** Converts errors of the decompressor to UnreadableBody, because they are not failures of the connection. */
function withReadableErrors(decompressor: Transform): Transform {
  const destroy = decompressor._destroy.bind(decompressor);
  decompressor._destroy = (error, callback) => {
    const code = error !== null && 'code' in error ? String(error.code) : '';
    // ERR_STREAM_…: the stream before this one closed early, which is a failure of the connection.
    const isOwn = /^(Z_|ERR_(?!STREAM_)|BROTLI)/.test(code);
    const unreadable = new UnreadableBody('cannot be decompressed', { isCutOff: code === 'Z_BUF_ERROR' });
    destroy(error, (after) => callback(isOwn ? unreadable : (after ?? error)));
  };
  return decompressor;
}

/** Escaped backslashes, surrogate pairs, and lone surrogates, which are not valid Unicode. */
const SURROGATES = /\\\\|\\ud[89ab]..\\ud[c-f]..|\\ud[89a-f]../gi;
/** What replaces a lone surrogate, as `wellFormed` does: with its code, so that different names remain different. */
const lost = (escape: string): string => `\\ufffd${escape.slice(2).toLowerCase()}`;

/** More values than a list of the most people has. Their number decides how long the parser blocks the process. */
const MOST_VALUES = 3_000_000;

/**
 * Parses the complete body. Throws ServiceError `malformed`, whose cause is a CutOff if the body may be incomplete. `what` is
 * the name of the body in messages.
 */
export async function readJson(what: string, body: AsyncIterable<Uint8Array>): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  try {
    for await (const chunk of body) chunks.push(chunk);
  } catch (error) {
    if (!(error instanceof UnreadableBody)) throw error;
    throw malformed(`${what} ${error.message}`, error.isCutOff ? new CutOff() : undefined);
  }
  const bytes = Buffer.concat(chunks);
  if (hasTooManyValues(bytes)) throw malformed(`${what} has more than ${MOST_VALUES} values`);
  const text = utf8(bytes);
  if (text === undefined) throw malformed(`${what} is not UTF-8`);
  try {
    return JSON.parse(text.replace(SURROGATES, (escape) => (escape.length === 6 ? lost(escape) : escape)));
  } catch {
    // The parser's own message is dropped, because it quotes the text.
    const start = text.trimStart().at(0) ?? '[';
    if (start === '<')
      throw malformed(`${what} is a web page and not JSON: check the base address and the proxy`);
    if (start !== '[' && start !== '{') throw malformed(`${what} is not JSON`);
    throw malformed(`${what} is cut off, or not JSON`, new CutOff());
  }
}

export function malformed(message: string, cause?: CutOff): ServiceError {
  const explained = `${message}; rolecall uses only complete and valid lists`;
  return new ServiceError('malformed', explained, { cause });
}

/** Counts what begins or separates values. In names it counts too much, but no list has so many of these. */
function hasTooManyValues(bytes: Uint8Array): boolean {
  let values = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === 0x2c || byte === 0x5b || byte === 0x7b) values += 1;
  }
  return values > MOST_VALUES;
}
