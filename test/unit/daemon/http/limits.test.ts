// What one client can use: bytes, counted as they arrive, and time.
import { connect, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { BEARER, FORM, JSON_BODY, makeStage, POSTED, start, TOKEN } from './stage.ts';

const SYNC = '/api/v1/accounts/acme-eu/sync';
const MEBIBYTE = 1024 ** 2;
const HEAD = `Host: x\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Type: application/json\r\n`;
/** Other tests use the processors at the same time. */
const PATIENT = { timeout: 60_000 };

/** Sends a body of unknown length until the server replies; resolves with the reply and the number of bytes sent. */
async function sendEndlessBody(
  url: string,
  path: string,
  mostBytes: number,
): Promise<{ reply: string; sent: number }> {
  const socket: Socket = connect(Number(new URL(url).port), '127.0.0.1');
  const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`;
  let reply = '';
  let sent = 0;
  let open = true;
  socket.on('data', (bytes) => (reply += bytes.toString()));
  socket.on('error', () => undefined);
  socket.on('close', () => (open = false));
  socket.write(`POST ${path} HTTP/1.1\r\n${HEAD}Transfer-Encoding: chunked\r\n\r\n`);
  while (open && reply === '' && sent < mostBytes) {
    const isFlowing = socket.write(chunk);
    sent += 65_536;
    if (!isFlowing) await new Promise((resolve) => socket.once('drain', resolve).once('close', resolve));
    await new Promise((resolve) => setImmediate(resolve));
  }
  if (reply === '' && open) socket.write('0\r\n\r\n');
  while (open && reply === '') await new Promise((resolve) => setTimeout(resolve, 5));
  socket.destroy();
  return { reply, sent };
}

describe('the body of a request', () => {
  it('that announces too many bytes is refused before it is sent', async () => {
    const { raw, recorded } = await start();
    const head = (path: string, length: number): string =>
      `POST ${path} HTTP/1.1\r\n${HEAD}Content-Length: ${length}\r\n\r\n`;
    for (const [path, length] of [
      [SYNC, MEBIBYTE + 1],
      ['/accounts/acme-eu/approve', MEBIBYTE + 1],
      ['/api/v1/plans', MEBIBYTE + 1],
    ] as const) {
      const answer = await raw(head(path, length), true);
      expect([path, answer.split('\r\n')[0]]).toEqual([path, 'HTTP/1.1 413 Payload Too Large']);
      expect(answer.toLowerCase()).toContain('connection: close');
    }
    expect(recorded).toMatchObject({ commands: [], posted: [] });
  });

  it('without an announced length is refused when it exceeds the limit', async () => {
    const { url, recorded } = await start();
    const action = await sendEndlessBody(url, SYNC, 64 * MEBIBYTE);
    expect(action.reply).toMatch(/^HTTP\/1\.1 413 /);
    expect(action.sent).toBeLessThan(16 * MEBIBYTE);
    const plan = await sendEndlessBody(url, '/api/v1/plans', 64 * MEBIBYTE);
    expect(plan.reply).toMatch(/^HTTP\/1\.1 413 /);
    expect(plan.sent).toBeLessThan(16 * MEBIBYTE);
    expect(recorded).toMatchObject({ commands: [], posted: [] });
  });

  it('can have a mebibyte if it proposes changes, and the server still answers afterwards', async () => {
    const { post, get, recorded } = await start();
    const skill = Array.from({ length: 1045 }, (_, n) => `${n}`.padEnd(999, 'x'));
    const body = JSON.stringify([{ ...POSTED, desired: { skill, allowedDeletes: [] } }]);
    expect((await post('/api/v1/plans', { ...BEARER, ...JSON_BODY }, body)).status).toBe(200);
    expect(recorded.posted[0]?.desired.skill).toHaveLength(1045);
    expect((await get('/healthz')).status).toBe(200);
  });

  it('without a token is not read, or only a little', async () => {
    const { post, url, recorded } = await start();
    const large = 'x'.repeat(200_000);
    expect((await post(SYNC, {}, large)).status).toBe(401);
    expect((await post('/sign-in', { origin: url, ...FORM }, `token=${large}`)).status).toBe(413);
    expect(recorded.calls).toBe(0);
  });

  it.each([
    ['of a posted plan', 5, '/api/v1/plans', HEAD],
    ['of the sign-in form', 100, '/sign-in', 'Host: x\r\n'],
  ])('%s is not read while %d others are sent', async (_, most, path, more) => {
    const { url, send, get } = await start();
    const head = `POST ${path} HTTP/1.1\r\n${more}Content-Length: 10\r\n\r\n`;
    const sockets = Array.from({ length: most }, () => connect(Number(new URL(url).port), '127.0.0.1'));
    for (const socket of sockets) socket.on('error', () => undefined).write(`${head}{`);
    const next = async () => (await send('POST', path, more === HEAD ? BEARER : {}, '{')).status;
    await expect.poll(next, PATIENT).toBe(503);
    expect((await get('/healthz')).status).toBe(200);
    for (const socket of sockets) socket.destroy();
    await expect.poll(next, PATIENT).not.toBe(503);
  });
});

describe('the time limit', () => {
  const SHORT = { headersMs: 300, requestMs: 600 };

  it('ends a request whose headers do not end', async () => {
    const { raw, get } = await start({ limits: SHORT });
    const reply = await raw('GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ', true);
    expect(reply).toMatch(/^HTTP\/1\.1 408 /);
    expect((await get('/healthz')).status).toBe(200);
  });

  it('ends a request whose body does not end, without any effect', async () => {
    const { raw, recorded, logged, get } = await start({ limits: SHORT });
    const reply = await raw(`POST ${SYNC} HTTP/1.1\r\n${HEAD}Content-Length: 10\r\n\r\n{`, true);
    expect(reply).toMatch(/^HTTP\/1\.1 408 /);
    expect(recorded.commands).toEqual([]);
    expect(logged).toEqual([]);
    expect((await get('/healthz')).status).toBe(200);
  });

  it('ends a sign-in whose body does not end', async () => {
    const { raw, logged } = await start();
    const reply = await raw('POST /sign-in HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nt', true);
    expect(reply).toMatch(/^HTTP\/1\.1 408 [^]*The sign-in took too long/);
    expect(logged).toEqual([]);
  });

  it.each(['GET /healthz', 'HEAD /', 'GET /%zz'])(
    'does not wait for a body that nobody reads: %s',
    async (request) => {
      const { raw } = await start();
      const reply = await raw(`${request} HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{`, true);
      expect(reply.toLowerCase()).toContain('connection: close');
    },
  );

  it('ends a silent connection', async () => {
    const { raw } = await start({ limits: { ...SHORT, idleMs: 200 } });
    expect(await raw('', true)).toMatch(/^(HTTP\/1\.1 408 |$)/);
  });

  it('does not end a plan that takes long', async () => {
    const running = await start({ limits: { idleMs: 200 } });
    const { stage, post } = running;
    const plans = stage.plans;
    Object.defineProperty(stage, 'plans', {
      get: () => new Promise((resolve) => setTimeout(() => resolve(plans), 600)),
    });
    const body = JSON.stringify([POSTED]);
    expect((await post('/api/v1/plans', { ...BEARER, ...JSON_BODY }, body)).status).toBe(200);
  });
});

it('a connection beyond the most that are open is dropped and counted, and the next one is answered when one ends', async () => {
  const { url, get, recorded } = await start({ limits: { connections: 2 } });
  const sockets = Array.from({ length: 2 }, () => connect(Number(new URL(url).port), '127.0.0.1'));
  const health = () =>
    get('/healthz').then(
      ({ status }) => status,
      () => 'dropped',
    );
  await expect.poll(health, PATIENT).toBe('dropped');
  expect(recorded.dropped).toBeGreaterThan(0);
  for (const socket of sockets) socket.destroy();
  await expect.poll(health, PATIENT).toBe(200);
});

it('a client that disconnects while it sends its body is not a failure of the server', async () => {
  const { url, logged, get, recorded } = await start();
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.write(`POST ${SYNC} HTTP/1.1\r\n${HEAD}Content-Length: 10\r\n\r\n{`);
  await new Promise((resolve) => setTimeout(resolve, 50));
  socket.destroy();
  expect((await get('/healthz')).status).toBe(200);
  expect([logged, recorded.commands]).toEqual([[], []]);
});

describe('closing the server', () => {
  it('completes a response in progress', async () => {
    const { get, stage, close } = await start();
    let release = (): void => undefined;
    const requested = new Promise<void>((onRequested) => {
      Object.defineProperty(stage, 'overview', {
        get: () => {
          onRequested();
          return new Promise((resolve) => (release = () => resolve(makeStage().overview)));
        },
      });
    });
    const answer = get('/api/v1/status', BEARER);
    await requested;
    const closed = close();
    release();
    expect((await answer).status).toBe(200);
    await closed;
  });

  it('waits for clients only briefly', async () => {
    const { raw, get, close, recorded } = await start();
    const stalled = raw(`POST ${SYNC} HTTP/1.1\r\n${HEAD}Content-Length: 10\r\n\r\n{`, true);
    expect((await get('/healthz')).status).toBe(200);
    await close();
    expect(await stalled).toBe('');
    expect(recorded.commands).toEqual([]);
    await expect(get('/healthz')).rejects.toThrow(/ECONNREFUSED/);
  });
});
