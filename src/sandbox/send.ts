// Puts an answer on the wire: whole and compressed, or cut, dripping, filled up, or not at all.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { Answer } from './answer.ts';
import type { Transport } from './apply-fault.ts';
import type { Timers } from './timers.ts';

const WORTH_COMPRESSING = 1024;
const PIECE = Buffer.alloc(64 * 1024, ' ');
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

function headersOf(answer: Answer): Record<string, string> {
  return {
    'content-type': 'application/json',
    vary: 'Accept-Encoding',
    'cache-control': 'no-store',
    ...answer.headers,
  };
}

/** By HTTP these have no body. */
const WITHOUT_BODY = new Set([204, 205, 304]);

async function sendWhole(answer: Answer, channel: Channel): Promise<void> {
  const { incoming, outgoing } = channel;
  if (WITHOUT_BODY.has(answer.status)) {
    outgoing.writeHead(answer.status, { 'cache-control': 'no-store', ...answer.headers });
    outgoing.end();
    return;
  }
  const headers = headersOf(answer);
  let body = answer.payload.bytes;
  if (channel.compress && body.length >= WORTH_COMPRESSING && acceptsGzip(incoming)) {
    body = await answer.payload.gzipped();
    headers['content-encoding'] = 'gzip';
  }
  headers['content-length'] = String(body.length);
  outgoing.writeHead(answer.status, headers);
  outgoing.end(body);
}

async function sendCut(
  answer: Answer,
  { outgoing }: Channel,
  fraction: number,
  silent: boolean,
): Promise<void> {
  const { bytes } = answer.payload;
  const part = bytes.subarray(0, Math.min(Math.floor(bytes.length * fraction), bytes.length - 1));
  outgoing.writeHead(answer.status, {
    ...headersOf(answer),
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

async function sendDripping(answer: Answer, channel: Channel, bytesPerSecond: number): Promise<void> {
  const { outgoing, timers } = channel;
  const { bytes } = answer.payload;
  const size = Math.max(1, Math.round((bytesPerSecond * DRIP_MS) / 1000));
  outgoing.writeHead(answer.status, { ...headersOf(answer), 'content-length': bytes.length });
  outgoing.flushHeaders();
  for (let at = 0; at < bytes.length && !outgoing.destroyed; at += size) {
    await timers.sleep((size / bytesPerSecond) * 1000);
    outgoing.write(bytes.subarray(at, at + size));
  }
  outgoing.end();
}

function* filled(bytes: Buffer, size: number): Generator<Buffer> {
  yield bytes;
  for (let left = size - bytes.length; left > 0; left -= PIECE.length)
    yield PIECE.subarray(0, Math.min(left, PIECE.length));
}

/** White space after the JSON; compressed, it is a bomb. */
async function sendFilled(answer: Answer, channel: Channel, size: number): Promise<void> {
  const { incoming, outgoing } = channel;
  const source = Readable.from(filled(answer.payload.bytes, size), { objectMode: false });
  const zipped = channel.compress && acceptsGzip(incoming);
  outgoing.writeHead(answer.status, {
    ...headersOf(answer),
    ...(zipped ? { 'content-encoding': 'gzip' } : {}),
  });
  await (zipped ? pipeline(source, createGzip({ level: 1 }), outgoing) : pipeline(source, outgoing));
}

/** Sends the answer. Resolves with the status that was sent, or null when the connection was broken instead. */
export async function send(answer: Answer, transport: Transport, channel: Channel): Promise<number | null> {
  switch (transport.type) {
    case 'whole':
      await sendWhole(answer, channel);
      return answer.status;
    case 'drop':
      channel.incoming.socket.destroy();
      return null;
    case 'cut':
      await sendCut(answer, channel, transport.fraction, transport.silent);
      return answer.status;
    case 'drip':
      await sendDripping(answer, channel, transport.bytesPerSecond);
      return answer.status;
    case 'fill':
      await sendFilled(answer, channel, transport.bytes);
      return answer.status;
  }
}
