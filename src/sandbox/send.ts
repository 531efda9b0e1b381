// A response, and how it is sent: completely, or cut, slowly, filled up with white space, or not at all.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { createGzip, gzip } from 'node:zlib';
import type { Timers } from './timing.ts';

const gzipBytes = promisify(gzip);

/** A body that is compressed at most once, even if it is sent many times. */
export interface Payload {
  readonly bytes: Buffer;
  gzipped(): Promise<Buffer>;
}

export function payloadOf(text: string): Payload {
  const bytes = Buffer.from(text, 'utf8');
  let compressed: Promise<Buffer> | undefined;
  return { bytes, gzipped: () => (compressed ??= gzipBytes(bytes, { level: 1 })) };
}

export interface ServiceResponse {
  readonly status: number;
  readonly payload: Payload;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether something was created or deleted. */
  readonly effect: boolean;
}

export function jsonResponse(
  status: number,
  body: unknown,
  more: Partial<ServiceResponse> = {},
): ServiceResponse {
  return { status, payload: payloadOf(JSON.stringify(body)), effect: false, ...more };
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
export function retryAfter(waitMs: number, format: 'seconds' | 'date', nowMs: number): string {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  return format === 'seconds'
    ? String(seconds)
    : new Date(Math.ceil((nowMs + seconds * 1000) / 1000) * 1000).toUTCString();
}

/** How a response is sent. */
export type Delivery =
  | { readonly type: 'complete' }
  | { readonly type: 'drop' }
  | { readonly type: 'cut'; readonly fraction: number; readonly silent: boolean }
  | { readonly type: 'drip'; readonly bytesPerSecond: number }
  | { readonly type: 'fill'; readonly bytes: number };

const MIN_COMPRESSED_BYTES = 1024;
const PADDING = Buffer.alloc(64 * 1024, ' ');
const DRIP_MS = 20;

export interface Channel {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  readonly compress: boolean;
  readonly timers: Timers;
}

function acceptsGzip(incoming: IncomingMessage): boolean {
  const accepted = String(incoming.headers['accept-encoding'] ?? '').toLowerCase();
  return accepted.split(',').some((each) => {
    const [coding, ...parameters] = each.split(';').map((part) => part.trim());
    return (coding === 'gzip' || coding === '*') && !parameters.some((part) => /^q=0(?:\.0*)?$/.test(part));
  });
}

function headersOf(response: ServiceResponse): Record<string, string> {
  return {
    'content-type': 'application/json',
    vary: 'Accept-Encoding',
    'cache-control': 'no-store',
    ...response.headers,
  };
}

/** HTTP allows no body for these. */
const WITHOUT_BODY = new Set([204, 205, 304]);

async function sendComplete(response: ServiceResponse, channel: Channel): Promise<void> {
  const { incoming, outgoing } = channel;
  if (WITHOUT_BODY.has(response.status)) {
    outgoing.writeHead(response.status, { 'cache-control': 'no-store', ...response.headers });
    outgoing.end();
    return;
  }
  const headers = headersOf(response);
  let body = response.payload.bytes;
  if (channel.compress && body.length >= MIN_COMPRESSED_BYTES && acceptsGzip(incoming)) {
    body = await response.payload.gzipped();
    headers['content-encoding'] = 'gzip';
  }
  headers['content-length'] = String(body.length);
  outgoing.writeHead(response.status, headers);
  outgoing.end(body);
}

async function sendCut(
  response: ServiceResponse,
  { outgoing }: Channel,
  fraction: number,
  silent: boolean,
): Promise<void> {
  const { bytes } = response.payload;
  const part = bytes.subarray(0, Math.min(Math.floor(bytes.length * fraction), bytes.length - 1));
  outgoing.writeHead(response.status, {
    ...headersOf(response),
    'content-length': silent ? part.length : bytes.length,
  });
  if (silent) {
    outgoing.end(part);
    return;
  }
  outgoing.flushHeaders();
  await new Promise<void>((resolve) => outgoing.write(part, () => resolve()));
  outgoing.destroy();
}

async function sendDripping(
  response: ServiceResponse,
  channel: Channel,
  bytesPerSecond: number,
): Promise<void> {
  const { outgoing, timers } = channel;
  const { bytes } = response.payload;
  const size = Math.max(1, Math.round((bytesPerSecond * DRIP_MS) / 1000));
  outgoing.writeHead(response.status, { ...headersOf(response), 'content-length': bytes.length });
  outgoing.flushHeaders();
  for (let at = 0; at < bytes.length && !outgoing.destroyed; at += size) {
    await timers.sleep((size / bytesPerSecond) * 1000);
    outgoing.write(bytes.subarray(at, at + size));
  }
  outgoing.end();
}

function* filled(bytes: Buffer, size: number): Generator<Buffer> {
  yield bytes;
  for (let left = size - bytes.length; left > 0; left -= PADDING.length)
    yield PADDING.subarray(0, Math.min(left, PADDING.length));
}

/** Sends white space after the JSON. Compressed, gigabytes are a few megabytes on the wire. */
async function sendFilled(response: ServiceResponse, channel: Channel, size: number): Promise<void> {
  const { incoming, outgoing } = channel;
  const source = Readable.from(filled(response.payload.bytes, size), { objectMode: false });
  const zipped = channel.compress && acceptsGzip(incoming);
  outgoing.writeHead(response.status, {
    ...headersOf(response),
    ...(zipped ? { 'content-encoding': 'gzip' } : {}),
  });
  await (zipped ? pipeline(source, createGzip({ level: 1 }), outgoing) : pipeline(source, outgoing));
}

/** Sends the response, or breaks the connection instead. */
export async function send(response: ServiceResponse, delivery: Delivery, channel: Channel): Promise<void> {
  switch (delivery.type) {
    case 'complete':
      return await sendComplete(response, channel);
    case 'drop':
      channel.incoming.socket.destroy();
      return;
    case 'cut':
      return await sendCut(response, channel, delivery.fraction, delivery.silent);
    case 'drip':
      return await sendDripping(response, channel, delivery.bytesPerSecond);
    case 'fill':
      return await sendFilled(response, channel, delivery.bytes);
  }
}
