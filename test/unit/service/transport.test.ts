// One HTTP call: headers, compression, limits, timeouts, redirects, and the secrecy of the token.
import { randomBytes } from 'node:crypto';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { LARGEST_ANSWER_BYTES } from '../../../src/core/limits.ts';
import { someOf } from '../../support/thorough.ts';
import { ALWAYS, client, json, serve, TOKEN } from './loopback.ts';

const LIST = JSON.stringify([{ _id: '1', name: 'Ä'.repeat(50) }]);

async function message(promise: Promise<unknown>): Promise<string> {
  return await promise.then(
    () => 'it did not fail',
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
}

describe('a request', () => {
  it('carries the token, the user agent and the accepted type', async () => {
    const server = await serve((response) => json(response, []));
    const { reader } = await client(server.url);
    await reader.listResources();
    expect(server.arrived[0]).toMatchObject({ method: 'GET', url: '/api/public/v1/resource', body: '' });
    expect(server.arrived[0]?.headers).toMatchObject({
      authorization: `Bearer ${TOKEN}`,
      'user-agent': 'rolecall/1.2.3',
      accept: 'application/json',
    });
    expect(server.arrived[0]?.headers['content-type']).toBeUndefined();
  });
});

describe('a response', () => {
  it.each([
    ['gzip', gzipSync(LIST)],
    ['x-gzip', gzipSync(LIST)],
    ['deflate', deflateSync(LIST)],
    ['br', brotliCompressSync(LIST)],
    ['identity', Buffer.from(LIST)],
    ['GZIP', gzipSync(LIST)],
    ['deflate, gzip', gzipSync(deflateSync(LIST))],
  ])('can be compressed as %s', async (encoding, body) => {
    const server = await serve(
      (response) => void response.writeHead(200, { 'content-encoding': encoding }).end(body),
    );
    const { reader } = await client(server.url);
    expect((await reader.listEntries('skill')).items).toMatchObject([{ id: '1', name: 'Ä'.repeat(50) }]);
  });

  it('with an encoding that was not requested is refused', async () => {
    const server = await serve(
      (response) => void response.writeHead(200, { 'content-encoding': 'zstd' }).end('x'),
    );
    const { reader } = await client(server.url, { retries: 0 });
    await expect(reader.listEntries('skill')).rejects.toMatchObject({ kind: 'malformed' });
  });

  it.each([
    ['uncompressed', (body: string) => [{}, body] as const],
    ['in chunks', (body: string) => [{ 'transfer-encoding': 'chunked' }, body] as const],
    ['after unpacking', (body: string) => [{ 'content-encoding': 'gzip' }, gzipSync(body)] as const],
    [
      'after unpacking with brotli',
      (body: string) => [{ 'content-encoding': 'br' }, brotliCompressSync(body)] as const,
    ],
    [
      'before unpacking',
      () =>
        [{ 'content-encoding': 'gzip' }, gzipSync(randomBytes(LARGEST_ANSWER_BYTES), { level: 0 })] as const,
    ],
  ])('over the limit %s is refused, and not requested again', async (_, pack) => {
    const [headers, body] = pack(LIST.padEnd(LARGEST_ANSWER_BYTES + 1, ' '));
    const server = await serve((response) => void response.writeHead(200, headers).end(body));
    const { reader } = await client(server.url, { timeoutMs: 20_000 });
    expect(await message(reader.listEntries('skill'))).toContain('larger than 32 MiB');
    expect(server.arrived).toHaveLength(1);
  });

  it('that arrives slowly for longer than the timeout is aborted', async () => {
    const server = await serve((response) => {
      response.writeHead(200);
      const timer = setInterval(() => response.write(' '), 20);
      response.on('close', () => clearInterval(timer));
    });
    const { reader } = await client(server.url, { timeoutMs: 300, retries: 0 });
    expect(await message(reader.listEntries('skill'))).toContain('within 0.3 s');
  });
});

describe('a redirect', () => {
  it.each([301, 302, 303, 307, 308])(
    '%d is not followed, and the token is not sent to its target',
    async (status) => {
      const elsewhere = await serve((response) => json(response, []));
      const server = await serve((response) =>
        json(response, {}, status, { location: `${elsewhere.url}/x` }),
      );
      const { reader, writer } = await client(server.url);
      expect(await message(reader.listEntries('skill'))).toContain('redirects are not followed');
      // The service may have made the change before it redirected.
      expect((await writer.create('skill', 'a', ALWAYS)).type).toBe('doubtful');
      expect(await writer.delete('skill', 'a', ALWAYS)).toMatchObject({ type: 'failed', maybeDone: true });
      expect([server.arrived.length, elsewhere.arrived.length]).toEqual([3, 0]);
    },
  );
});

describe('a secret that the server echoes', () => {
  /** The ways in which a JSON writer can spell the same string. */
  const spellings: readonly (readonly [string, (text: string) => string])[] = [
    ['as JSON', (text) => JSON.stringify(text)],
    ['as JSON with escaped slashes', (text) => JSON.stringify(text).replaceAll('/', '\\/')],
    [
      'as JSON with every sign escaped',
      (text) =>
        `"${Array.from(text, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')}"`,
    ],
  ];

  it.each(spellings)('%s is in no message of a list', async (_, spell) => {
    const server = await serve(
      (response, { headers }) =>
        response
          .writeHead(400)
          .end(`{"detail":[{"msg":${spell(`bad ${String(headers.authorization)}`)}}]}`) && undefined,
    );
    const { reader } = await client(server.url);
    const reported = await message(reader.listEntries('skill'));
    expect(reported).toContain('bad Bearer');
    expect(reported).not.toContain(TOKEN);
  });

  it.each(someOf(spellings, 1))('%s is in no outcome of a create or delete', async (_, spell) => {
    const server = await serve(
      (response, { headers }) =>
        response
          .writeHead(422)
          .end(`{"detail":[{"loc":[],"msg":${spell(`bad ${String(headers.authorization)}`)}}]}`) && undefined,
    );
    const { writer } = await client(server.url);
    const outcomes = [await writer.create('skill', 'a', ALWAYS), await writer.delete('role', 'b', ALWAYS)];
    const reasons = outcomes.map((outcome) => (outcome.type === 'failed' ? outcome.error.message : ''));
    expect(reasons.filter((reason) => reason.includes('bad Bearer'))).toHaveLength(2);
    expect(reasons.filter((reason) => reason.includes(TOKEN))).toEqual([]);
  });

  it.each(spellings)('%s is in no field of a list that is kept', async (_, spell) => {
    const server = await serve(
      (response, { headers }) =>
        response
          .writeHead(200)
          .end(`[{"_id":"1","name":"a","note":${spell(String(headers.authorization))}}]`) && undefined,
    );
    const { reader } = await client(server.url);
    const [entry] = (await reader.listEntries('skill')).items;
    expect(entry?.raw['note']).toContain('Bearer');
    expect(entry?.raw['note']).not.toContain(TOKEN);
  });
});
