// An answer that is sent piece by piece as the client reads it, so that its size takes no memory.
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { HttpContext } from './context.ts';
import { headersOf } from './security-headers.ts';

/** Sends the pieces. A client that leaves ends the answer; throws when a piece cannot be made. */
export async function sendPieces(
  context: HttpContext,
  pieces: AsyncIterable<string | Uint8Array>,
  headers: Readonly<Record<string, string>>,
): Promise<Response> {
  const { outgoing } = context.env;
  // The adapter would write to stdout when a client leaves.
  outgoing.writeHead(200, { ...headersOf(context), ...headers });
  try {
    await pipeline(Readable.from(pieces, { objectMode: true }), outgoing);
  } catch (error) {
    if (!isAbandoned(error)) throw error;
  }
  return context.body(null, 200, ALREADY_SENT);
}

/** Has the adapter send nothing more. */
const ALREADY_SENT = { 'x-hono-already-sent': 'true' };

function isAbandoned(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE';
}
