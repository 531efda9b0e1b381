// Compressed answers: which encoding, of what, and what caches must consider.
import { request } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { BEARER, makeAccount, start } from './stage.ts';

/** The answer with its body as bytes. */
async function fetchRaw(url: string, path: string, encoding: string) {
  return await new Promise<{ headers: Record<string, unknown>; body: Buffer }>((resolve, reject) => {
    const headers = { ...BEARER, 'accept-encoding': encoding };
    request(`${url}${path}`, { headers, agent: false }, (reply) => {
      const chunks: Buffer[] = [];
      reply.on('data', (chunk: Buffer) => chunks.push(chunk));
      reply.on('end', () => resolve({ headers: reply.headers, body: Buffer.concat(chunks) }));
    })
      .on('error', reject)
      .end();
  });
}

it.each(['gzip', 'gzip, deflate, br', 'GZIP;q=0.5', '*'])(
  'an answer to “Accept-Encoding: %s” is compressed',
  async (accepted) => {
    const accounts = Array.from({ length: 100 }, (_, index) => makeAccount(`account-${index}`));
    const running = await start({}, { accounts });
    for (const path of [
      '/',
      '/api/v1/accounts',
      await assetOf(running, 'css'),
      await assetOf(running, 'js'),
    ]) {
      const plain = await running.get(path, BEARER);
      const { headers, body } = await fetchRaw(running.url, path, accepted);
      expect([path, headers['content-encoding'], headers['vary']]).toEqual([path, 'gzip', 'Accept-Encoding']);
      expect(body.length).toBeLessThan(plain.text.length / 2);
      const text = gunzipSync(body).toString();
      expect(text === plain.text).toBe(true);
      expect(headers['content-security-policy']).toBe(plain.headers.get('content-security-policy'));
    }
  },
);

it.each(['', 'identity', 'deflate', 'br', 'gzip;q=0'])(
  'an answer to “Accept-Encoding: %s” is not compressed, and caches can see that it could be',
  async (accepted) => {
    const { url } = await start();
    const { headers, body } = await fetchRaw(url, '/', accepted);
    expect([headers['content-encoding'], headers['vary']]).toEqual([undefined, 'Accept-Encoding']);
    expect(body.toString()).toMatch(/^<!doctype html>/);
  },
);

async function assetOf({ get }: Awaited<ReturnType<typeof start>>, suffix: string): Promise<string> {
  const { text } = await get('/', BEARER);
  return new RegExp(`/assets/[a-z]+-[0-9a-f]{16}\\.${suffix}`).exec(text)?.[0] ?? '';
}
