// The headers of every answer, and answers that are sent piece by piece.
import { compress } from 'hono/compress';
import { secureHeaders } from 'hono/secure-headers';
import type { Log } from '../log.ts';
import type { HttpContext, HttpMiddleware } from './context.ts';
import { isHttps } from './request-checks.ts';

/**
 * Pages contain text, our own stylesheet, script and icon, and forms that send to this server; no frame, no font, and
 * nothing inline. The script reads from this server only.
 */
const HEADERS = {
  contentSecurityPolicy: {
    defaultSrc: ["'none'"],
    styleSrc: ["'self'"],
    scriptSrc: ["'self'"],
    imgSrc: ["'self'"],
    connectSrc: ["'self'"],
    formAction: ["'self'"],
    frameAncestors: ["'none'"],
    baseUri: ["'none'"],
  },
  xFrameOptions: 'DENY',
  originAgentCluster: false,
  xDnsPrefetchControl: false,
  xDownloadOptions: false,
  xPermittedCrossDomainPolicies: false,
  xXssProtection: false,
} satisfies Parameters<typeof secureHeaders>[0];

const overHttp = secureHeaders({ ...HEADERS, strictTransportSecurity: false });
const overHttps = secureHeaders({ ...HEADERS, strictTransportSecurity: 'max-age=31536000' });

/** Adds the security headers to every answer, including errors. An answer without a `cache-control` is not cached. */
export const withSecurityHeaders: HttpMiddleware = async (context, next) => {
  await (isHttps(context) ? overHttps : overHttp)(context, next);
  if (!context.res.headers.has('cache-control')) context.res.headers.set('cache-control', 'no-store');
};

/** Pages contain no secret beside what a client sent, so their compressed size reveals none. */
export const compressAnswers: HttpMiddleware = compress({ encoding: 'gzip' });

interface AnswerInPieces {
  /** The next piece is requested when the client has read most of those before. */
  readonly pieces: AsyncIterable<string | Uint8Array>;
  readonly type: string;
  readonly log: Pick<Log, 'error'>;
}

/** A limit of answers that are sent at the same time. */
export interface Senders {
  readonly most: number;
  sending: number;
}

/** Sends the pieces. If one fails, the connection is closed, because a part of the answer has already been sent. */
export function sendPieces(
  context: HttpContext,
  senders: Senders,
  { pieces, type, log }: AnswerInPieces,
): Response {
  const encoder = new TextEncoder();
  async function* bytes(): AsyncGenerator<Uint8Array> {
    senders.sending += 1;
    try {
      for await (const piece of pieces) yield typeof piece === 'string' ? encoder.encode(piece) : piece;
    } catch (error) {
      const { method, path } = context.req;
      const reason = error instanceof Error ? error.message : 'unknown';
      log.error({ event: 'http_failed', method, path, error: reason }, 'a request failed');
      context.env.outgoing.destroy();
    } finally {
      senders.sending -= 1;
    }
  }
  return context.body(ReadableStream.from(bytes()), 200, { 'content-type': type });
}
