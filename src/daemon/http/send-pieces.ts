// An answer that is sent piece by piece as the client reads it, so that its size takes no memory.
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { errorCode } from '../../core/error-code.ts';
import type { Log } from '../log.ts';
import type { HttpContext } from './context.ts';
import { headersOf } from './security-headers.ts';

/** Sends the pieces as JSON. When one cannot be made, the connection is closed, since a part of the answer has left. */
export async function sendJsonPieces(
  context: HttpContext,
  pieces: AsyncIterable<string | Uint8Array>,
  log: Pick<Log, 'error'>,
): Promise<Response> {
  const { outgoing } = context.env;
  // The adapter would write to stdout when a client leaves.
  outgoing.writeHead(200, { ...headersOf(context), 'content-type': 'application/json' });
  try {
    await pipeline(Readable.from(pieces, { objectMode: true }), outgoing);
  } catch (error) {
    if (!isAbandoned(error)) {
      const { method, path } = context.req;
      const reason = error instanceof Error ? error.message : 'unknown';
      log.error({ event: 'http_failed', method, path, error: reason }, 'a request failed');
    }
  }
  return context.body(null, 200, ALREADY_SENT);
}

/** Has the adapter send nothing more. */
const ALREADY_SENT = { 'x-hono-already-sent': 'true' };

/** The client has left. */
function isAbandoned(error: unknown): boolean {
  return errorCode(error) === 'ERR_STREAM_PREMATURE_CLOSE';
}
