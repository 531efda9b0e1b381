// The body of an answer, unpacked as it arrives: never held as one piece, at most two content codings, never larger
// than the limit at any stage.
import type { Readable } from 'node:stream';
import { pipeline, Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';

/** A body that cannot be unpacked; the message is the end of a sentence that begins with what was unpacked. */
export class UnreadableBody extends Error {
  override readonly name = 'UnreadableBody';
  /** It ends too early. */
  readonly isCutOff: boolean;

  constructor(message: string, { isCutOff = false } = {}) {
    super(message);
    this.isCutOff = isCutOff;
  }
}

/** The cause of a ServiceError `malformed` whose body ends too early. */
export class CutOff extends Error {
  override readonly name = 'CutOff';
}

/** The code of the error with which a body ends that is larger than the limit. */
export const BODY_TOO_LARGE = 'BODY_TOO_LARGE';

/** More codings serve no purpose but to exhaust the reader. */
const MOST_CODINGS = 2;

const UNPACKERS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** The unpacked bytes. Throws UnreadableBody while they are read. Whoever stops early ends the answer. */
export async function* unpacked(
  body: Readable,
  encoding: string | string[] | undefined,
  maxBytes: number,
): AsyncGenerator<Uint8Array> {
  const stages = codingsOf(encoding).flatMap((create) => [explained(create()), limit(maxBytes)]);
  // The last stage ends with the error of any of them, and all are destroyed with it.
  if (stages.length > 0) pipeline([body, ...stages], () => undefined);
  yield* stages.at(-1) ?? body;
}

function codingsOf(encoding: string | string[] | undefined): (() => Transform)[] {
  const names = String(encoding ?? '')
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '' && name !== 'identity');
  if (names.length > MOST_CODINGS) throw new UnreadableBody(`has ${names.length} content codings`);
  return names.toReversed().map((name) => {
    const create = Object.hasOwn(UNPACKERS, name) ? UNPACKERS[name] : undefined;
    if (create === undefined) throw new UnreadableBody('has a content coding that was not requested');
    return create;
  });
}

/** What the unpacker complains about is a property of the body, and no failure of the connection. */
function explained(unpacker: Transform): Transform {
  const destroy = unpacker._destroy.bind(unpacker);
  unpacker._destroy = (error, callback) => {
    const code = error !== null && 'code' in error ? String(error.code) : '';
    // ERR_STREAM_…: the body before it ended without its end.
    const isOwn = /^(Z_|ERR_(?!STREAM_)|BROTLI)/.test(code);
    const unreadable = new UnreadableBody('cannot be unpacked', { isCutOff: code === 'Z_BUF_ERROR' });
    destroy(error, (after) => callback(isOwn ? unreadable : (after ?? error)));
  };
  return unpacker;
}

function limit(maxBytes: number): Transform {
  let bytes = 0;
  return new Transform({
    transform(chunk: Uint8Array, _, callback) {
      bytes += chunk.byteLength;
      if (bytes <= maxBytes) callback(null, chunk);
      else callback(Object.assign(new Error('too large'), { code: BODY_TOO_LARGE }));
    },
  });
}

/** The beginning of a body as text, for people: what is not UTF-8 is replaced, and the rest is never read. */
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

/** A short body as text; undefined when it is longer, packed wrongly or not UTF-8: a guessed letter would change a name. */
export async function shortText(
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      bytes += chunk.byteLength;
      if (bytes > maxBytes) return undefined;
    }
  } catch (error) {
    if (error instanceof UnreadableBody) return undefined;
    throw error;
  }
  return utf8(Buffer.concat(chunks));
}

const decoder = new TextDecoder('utf-8', { fatal: true });

/** The text of complete bytes, or undefined when they are not UTF-8. */
export function utf8(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}
