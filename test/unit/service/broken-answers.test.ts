// A connection that breaks during a list: the list is read again, for every compression and framing.
import { randomBytes } from 'node:crypto';
import { createServer, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { beginningOf, unpacked, UnreadableBody } from '../../../src/service/body.ts';
import { client, serve } from './loopback.ts';

const SKILLS = Array.from({ length: 100 }, (_, index) => ({
  _id: String(index),
  name: randomBytes(100).toString('base64'),
}));
const LIST = Buffer.from(JSON.stringify(SKILLS));
const LIMITS = { retries: 1 };

const PACKED: readonly (readonly [string, Buffer])[] = [
  ['identity', LIST],
  ['gzip', gzipSync(LIST)],
  ['br', brotliCompressSync(LIST)],
  ['deflate, gzip', gzipSync(deflateSync(LIST))],
];

/** How the end of a body is known, with the bytes that carry a part of it. */
const FRAMES: Readonly<Record<string, (body: Buffer, part: Buffer) => readonly [string, Buffer]>> = {
  'with a content length': (body, part) => [`content-length: ${String(body.length)}`, part],
  'in chunks': (_, part) => [
    'transfer-encoding: chunked',
    Buffer.concat([Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n')]),
  ],
  'up to the end of the connection': (_, part) => ['connection: close', part],
};

const ENDS_CLOSED = (socket: Socket): void => void socket.end();

const ENDS: Readonly<Record<string, (socket: Socket) => void>> = {
  'is closed': ENDS_CLOSED,
  'is reset': (socket) => void socket.resetAndDestroy(),
};

interface Breaking {
  readonly url: string;
  requests: number;
}

/** Breaks the connection in the middle of the first answer; the second one is complete. */
async function breaking(
  encoding: string,
  body: Buffer,
  frame: NonNullable<(typeof FRAMES)[string]>,
  end: (socket: Socket) => void,
): Promise<Breaking> {
  const breakage = { url: '', requests: 0 };
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => {
      breakage.requests += 1;
      const isComplete = breakage.requests > 1;
      const [header, bytes] = isComplete
        ? [`content-length: ${String(body.length)}\r\nconnection: close`, body]
        : frame(body, body.subarray(0, body.length / 2));
      socket.write(`HTTP/1.1 200 OK\r\ncontent-encoding: ${encoding}\r\n${header}\r\n\r\n`);
      // The reader receives a part before the connection breaks.
      socket.write(bytes, () => setTimeout(() => (isComplete ? socket.end() : end(socket)), 20));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  breakage.url = `http://127.0.0.1:${String(address.port)}`;
  return breakage;
}

describe.each(PACKED)('a list compressed as %s', (encoding, body) => {
  describe.each(Object.entries(FRAMES))('%s', (_, frame) => {
    it.each(Object.entries(ENDS))('is read again when the connection %s in its middle', async (__, end) => {
      const server = await breaking(encoding, body, frame, end);
      const { reader } = await client(server.url, LIMITS);
      expect((await reader.listEntries('skill')).items).toHaveLength(SKILLS.length);
      expect(server.requests).toBe(2);
    });
  });
});

it('a list is read again when the connection ends before anything arrives', async () => {
  const server = await breaking('identity', LIST, () => ['connection: close', Buffer.alloc(0)], ENDS_CLOSED);
  const { reader } = await client(server.url, LIMITS);
  expect((await reader.listEntries('skill')).items).toHaveLength(SKILLS.length);
});

it.each(PACKED)(
  'a complete answer with half a list compressed as %s is not read again',
  async (encoding, body) => {
    const server = await serve(
      (response) =>
        void response.writeHead(200, { 'content-encoding': encoding }).end(body.subarray(0, body.length / 2)),
    );
    const { reader } = await client(server.url, LIMITS);
    await expect(reader.listEntries('skill')).rejects.toMatchObject({ kind: 'malformed' });
    expect(server.arrived).toHaveLength(1);
  },
);

it('a compressed body that closes before its end is a failure of the connection', async () => {
  const body = new Readable({ read: () => undefined });
  body.push(gzipSync(LIST).subarray(0, 1000));
  setTimeout(() => body.destroy(), 20);
  const reading = beginningOf(unpacked(body, 'gzip', 1_000_000), 1_000_000);
  await expect(reading).rejects.toSatisfy((error) => !(error instanceof UnreadableBody));
});
