// Sends an answer piece by piece as the client reads it, so that a large or a long answer needs little memory.
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { errorCode } from '../../core/error-code.ts';
import type { Log } from '../log.ts';
import { compressedPieces } from './compression.ts';
import type { HttpContext } from './context.ts';
import { headersOf } from './security-headers.ts';

export interface AnswerInPieces {
  /** The next piece is requested when the client has read most of those before. */
  readonly pieces: AsyncIterable<string | Uint8Array>;
  readonly headers: Readonly<Record<string, string>> & { readonly 'content-type': string };
  readonly log: Pick<Log, 'error'>;
  /** Closes the connection of a client that reads too slowly. */
  readonly signal?: AbortSignal;
}

/** Sends the pieces. If one fails, the connection is closed, because a part of the answer has already been sent. */
export async function sendPieces(
  context: HttpContext,
  { pieces, headers, log, signal }: AnswerInPieces,
): Promise<Response> {
  const { outgoing } = context.env;
  // Written directly, because the adapter of hono writes to stdout when a client leaves.
  const compressed = compressedPieces(context);
  outgoing.writeHead(200, { ...headersOf(context), ...headers, ...compressed.headers });
  try {
    const source = Readable.from(pieces, { objectMode: true, highWaterMark: 1 });
    const { stream } = compressed;
    const parts = stream === null ? [source, outgoing] : [source, stream, outgoing];
    await pipeline(parts, { signal });
  } catch (error) {
    if (!isAbandoned(error)) {
      const { method, path } = context.req;
      const reason = error instanceof Error ? error.message : 'unknown';
      log.error({ event: 'http_failed', method, path, error: reason }, 'a request failed');
    }
  }
  return context.body(null, 200, ALREADY_SENT);
}

/** Makes the adapter of hono send nothing more. */
const ALREADY_SENT = { 'x-hono-already-sent': 'true' };

/** The client has left, or was too slow. */
function isAbandoned(error: unknown): boolean {
  return ['ERR_STREAM_PREMATURE_CLOSE', 'ABORT_ERR'].includes(errorCode(error) ?? '');
}
