// Many requests of one client: the others are answered meanwhile.
import { connect } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import type { HttpLimits } from '../../../../src/daemon/http/limits.ts';
import { BEARER, makeAccount, READ_TOKEN, start, TOKEN } from './stage.ts';

const WORK_MS = 8;
const PIPELINED = 300;

/** A server whose overview takes a while of the process. */
async function startSlow(limits: Partial<HttpLimits> = {}) {
  const running = await start({ limits });
  const accounts = [makeAccount('acme-eu')];
  Object.defineProperty(running.stage, 'accounts', {
    get() {
      const end = performance.now() + WORK_MS;
      while (performance.now() < end);
      return accounts;
    },
  });
  return running;
}

/** Sends many requests over one connection without waiting for an answer. */
function pipeline(url: string, token: string, count = PIPELINED) {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  const statuses: string[] = [];
  let text = '';
  socket.on('error', () => undefined);
  socket.on('data', (bytes) => {
    text += bytes.toString('latin1');
    statuses.push(...[...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status = '']) => status));
    // What may be the beginning of another status line.
    text = text.slice(text.lastIndexOf('HTTP/1.1 ') + 9).slice(-12);
  });
  socket.write(`GET / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`.repeat(count));
  return { answers: () => statuses.length, statuses };
}

async function timesOf(count: number, request: () => Promise<unknown>): Promise<number[]> {
  const times: number[] = [];
  for (let n = 0; n < count; n += 1) {
    const begin = performance.now();
    await request();
    times.push(performance.now() - begin);
  }
  return times.toSorted((a, b) => a - b);
}

it.each([
  ['of another token', READ_TOKEN],
  ['of the same token, over another connection', TOKEN],
])('requests that a client pipelines do not delay those %s', async (_, token) => {
  const { url, get } = await startSlow();
  const flood = pipeline(url, token);
  await expect.poll(() => flood.answers()).toBeGreaterThan(0);
  const times = await timesOf(5, () => get('/api/v1/accounts', BEARER));
  // Without turns of clients, the first would wait for all pipelined requests.
  expect(flood.answers()).toBeLessThan(PIPELINED / 2);
  expect(times[2]).toBeLessThan((PIPELINED * WORK_MS) / 8);
  await expect.poll(() => flood.answers(), { timeout: 20_000 }).toBe(PIPELINED);
});

it('a client with too many open requests is refused, and others are not', async () => {
  const { url, get } = await startSlow({ openPerClient: 20 });
  const flood = pipeline(url, READ_TOKEN, 100);
  await expect.poll(() => flood.answers()).toBeGreaterThan(0);
  expect((await get('/api/v1/accounts', BEARER)).status).toBe(200);
  await expect.poll(() => flood.answers(), { timeout: 20_000 }).toBe(100);
  expect(flood.statuses.filter((status) => status === '200')).toHaveLength(20);
  expect(flood.statuses.filter((status) => status === '503')).toHaveLength(80);
});
