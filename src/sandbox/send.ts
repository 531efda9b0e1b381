// A response, and how it is sent: completely, or cut, slowly, filled up with white space, or not at all.
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { createGzip, gzip } from 'node:zlib';

const gzipBytes = promisify(gzip);

export interface ServiceResponse {
  readonly status: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether something was created or deleted. */
  readonly effect: boolean;
  /** How it is sent, if not completely. */
  readonly delivery?: Delivery;
}

export type Delivery =
  | { readonly type: 'drop' }
  | { readonly type: 'cut'; readonly fraction: number; readonly silent: boolean }
  | { readonly type: 'drip'; readonly bytesPerSecond: number }
  | { readonly type: 'fill'; readonly bytes: number };

export function jsonResponse(
  status: number,
  body: unknown,
  more: Partial<ServiceResponse> = {},
): ServiceResponse {
  return { status, body: JSON.stringify(body), effect: false, ...more };
}

/** An error that is not a validation error. Its body is `{detail: text}`. */
export function errorResponse(
  status: number,
  detail: string,
  headers: Readonly<Record<string, string>> = {},
): ServiceResponse {
  return jsonResponse(status, { detail }, { headers });
}

/** `Retry-After` in whole seconds (at least 1) or as an HTTP date. */
export function retryAfter(waitMs: number, format: 'seconds' | 'date'): string {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  if (format === 'seconds') return String(seconds);
  return new Date(Math.ceil(Date.now() / 1000 + seconds) * 1000).toUTCString();
}

const MIN_COMPRESSED_BYTES = 1024;
const PADDING = Buffer.alloc(64 * 1024, ' ');
const DRIP_MS = 20;
/** HTTP allows no body for these. */
const WITHOUT_BODY = new Set([204, 205, 304]);
/** Not with `q=0`. */
const ACCEPTS_GZIP = /(?:^|[\s,])(?:gzip|\*)\s*(?:,|$|;(?!\s*q=0(?:\.0*)?\s*(?:[,;]|$)))/i;

export interface Channel {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  readonly compress: boolean;
  readonly sleep: (ms: number) => Promise<void>;
}

/** Sends the response, or breaks the connection instead. */
export async function send(response: ServiceResponse, channel: Channel): Promise<void> {
  const { incoming, outgoing, sleep } = channel;
  const { status, delivery } = response;
  const bytes = Buffer.from(response.body);
  const mayZip = channel.compress && ACCEPTS_GZIP.test(incoming.headers['accept-encoding']?.toString() ?? '');
  const start = (headers: OutgoingHttpHeaders): void => {
    const always = {
      'content-type': 'application/json',
      vary: 'Accept-Encoding',
      'cache-control': 'no-store',
    };
    outgoing.writeHead(status, { ...always, ...response.headers, ...headers });
  };
  switch (delivery?.type) {
    case undefined: {
      if (WITHOUT_BODY.has(status)) {
        outgoing.writeHead(status, { 'cache-control': 'no-store', ...response.headers }).end();
        return;
      }
      const isZipped = mayZip && bytes.length >= MIN_COMPRESSED_BYTES;
      const body = isZipped ? await gzipBytes(bytes, { level: 1 }) : bytes;
      start({ ...(isZipped ? { 'content-encoding': 'gzip' } : {}), 'content-length': body.length });
      outgoing.end(body);
      return;
    }
    case 'drop':
      incoming.socket.destroy();
      return;
    case 'cut': {
      const kept = Math.min(Math.floor(bytes.length * delivery.fraction), bytes.length - 1);
      const part = bytes.subarray(0, kept);
      start({ 'content-length': delivery.silent ? part.length : bytes.length });
      if (delivery.silent) return void outgoing.end(part);
      outgoing.flushHeaders();
      await new Promise<void>((resolve) => outgoing.write(part, () => resolve()));
      outgoing.destroy();
      return;
    }
    case 'drip': {
      const size = Math.max(1, Math.round((delivery.bytesPerSecond * DRIP_MS) / 1000));
      start({ 'content-length': bytes.length });
      outgoing.flushHeaders();
      for (let at = 0; at < bytes.length && !outgoing.destroyed; at += size) {
        await sleep((size / delivery.bytesPerSecond) * 1000);
        outgoing.write(bytes.subarray(at, at + size));
      }
      outgoing.end();
      return;
    }
    case 'fill': {
      // Compressed, gigabytes are a few megabytes on the wire.
      const source = Readable.from(filled(bytes, delivery.bytes), { objectMode: false });
      start(mayZip ? { 'content-encoding': 'gzip' } : {});
      await (mayZip ? pipeline(source, createGzip({ level: 1 }), outgoing) : pipeline(source, outgoing));
    }
  }
}

/** The JSON, and white space after it. */
function* filled(bytes: Buffer, size: number): Generator<Buffer> {
  yield bytes;
  for (let left = size - bytes.length; left > 0; left -= PADDING.length)
    yield PADDING.subarray(0, Math.min(left, PADDING.length));
}
