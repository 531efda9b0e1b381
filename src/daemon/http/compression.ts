// Compresses answers for clients that accept it. Pages contain no secret beside what a client sent, so their compressed
// size reveals none.
import type { Transform } from 'node:stream';
import { promisify } from 'node:util';
import {
  brotliCompress,
  constants,
  createBrotliCompress,
  createGzip,
  gzip as gzipCompress,
  type BrotliOptions,
} from 'node:zlib';
import type { HttpContext, HttpMiddleware } from './context.ts';

/** Everything with text. */
const COMPRESSIBLE = /^(text\/(html|css|javascript|plain)|application\/json|image\/svg\+xml)\b/;
/** Below this, compression saves no packet. */
const MIN_BYTES = 1024;
/** Nearly as small as the best quality, in a tenth of its time. */
const BROTLI: BrotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };

const [brotli, gzip] = [promisify(brotliCompress), promisify(gzipCompress)];

const ENCODINGS = {
  br: { compress: (plain: Buffer) => brotli(plain, BROTLI), stream: () => createBrotliCompress(BROTLI) },
  gzip: { compress: (plain: Buffer) => gzip(plain), stream: () => createGzip() },
} as const;
type Encoding = keyof typeof ENCODINGS;

/** Compresses complete answers. What is sent piece by piece uses `compressedPieces`. */
export const compressAnswers: HttpMiddleware = async (context, next) => {
  await next();
  const { res } = context;
  if (res.body === null || !COMPRESSIBLE.test(res.headers.get('content-type') ?? '')) return;
  res.headers.append('vary', 'Accept-Encoding');
  const encoding = encodingOf(context);
  if (encoding === null || context.req.method === 'HEAD') return;
  const plain = Buffer.from(await res.arrayBuffer());
  const isSmall = plain.length < MIN_BYTES;
  const body = isSmall ? plain : await ENCODINGS[encoding].compress(plain);
  if (!isSmall) res.headers.set('content-encoding', encoding);
  res.headers.set('content-length', String(body.length));
  context.res = new Response(new Uint8Array(body), { status: res.status, headers: res.headers });
};

/** The headers and the stream that compress an answer which is sent piece by piece; neither when the client accepts none. */
export function compressedPieces(context: HttpContext): {
  readonly headers: Readonly<Record<string, string>>;
  readonly stream: Transform | null;
} {
  const encoding = encodingOf(context);
  const vary = { vary: 'Accept-Encoding' };
  return encoding === null
    ? { headers: vary, stream: null }
    : { headers: { ...vary, 'content-encoding': encoding }, stream: ENCODINGS[encoding].stream() };
}

/** The best encoding that `Accept-Encoding` allows; null when there is none. */
function encodingOf(context: HttpContext): Encoding | null {
  const accepted = new Map(
    (context.req.header('accept-encoding') ?? '').split(',').map((item) => {
      const [name = '', ...parameters] = item.split(';').map((part) => part.trim().toLowerCase());
      const quality = parameters.find((parameter) => parameter.startsWith('q='));
      return [name, quality === undefined ? 1 : Number(quality.slice(2))];
    }),
  );
  const isAccepted = (name: Encoding): boolean => (accepted.get(name) ?? accepted.get('*') ?? 0) > 0;
  return isAccepted('br') ? 'br' : isAccepted('gzip') ? 'gzip' : null;
}
