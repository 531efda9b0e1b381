// Proxies from the environment, and certificates of a private authority.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { connect as connectTo } from 'node:net';
import type { Duplex } from 'node:stream';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { ConfigError } from '../../../src/core/errors.ts';
import { accountAt } from './account-at.ts';
import type { Arrived } from './loopback.ts';
import { ALWAYS, client, connect, handler, json, listening, newSignals, serve, TOKEN } from './loopback.ts';

/** A proxy that forwards everything, by tunnel or by absolute address, and records it. With a certificate it is an https one. */
async function proxy(tls?: { key: Buffer; cert: Buffer }): Promise<{ url: string; seen: string[] }> {
  const seen: string[] = [];
  const server = tls === undefined ? createServer() : createTlsServer(tls);
  server.on('request', (request, response) => {
    seen.push(`${String(request.method)} ${String(request.url)}`);
    void fetch(request.url ?? '', { headers: { authorization: request.headers.authorization ?? '' } }).then(
      async (answer) => response.writeHead(answer.status).end(await answer.text()),
      () => response.writeHead(502).end(),
    );
  });
  server.on('connect', (request, socket, head) => {
    seen.push(`CONNECT ${String(request.url)}`);
    // It resolves every name to this machine.
    const [, port = ''] = (request.url ?? '').split(':');
    const upstream = connectTo(Number(port), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      upstream.write(head);
      upstream.pipe(socket).pipe(upstream);
    });
    upstream.on('error', () => socket.destroy());
    socket.on('error', () => upstream.destroy());
    tunnels.push(socket, upstream);
  });
  const tunnels: { destroy(): unknown }[] = [];
  onTestFinished(() => tunnels.forEach((tunnel) => void tunnel.destroy()));
  return { url: `http${tls ? 's' : ''}://127.0.0.1:${String(await listening(server))}`, seen };
}

/** The address of a server by a name that is not this machine's. */
function elsewhere({ port }: { readonly port: number }): string {
  return `http://planning.test:${String(port)}`;
}

function environment(variables: Readonly<Record<string, string>>): void {
  for (const name of ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'no_proxy']) {
    vi.stubEnv(name, variables[name]);
  }
  onTestFinished(() => void vi.unstubAllEnvs());
}

describe('a proxy from the environment', () => {
  it.each(['HTTP_PROXY', 'http_proxy'])('in %s is used', async (variable) => {
    const through = await proxy();
    environment({ [variable]: through.url });
    const server = await serve((response) => json(response, [{ _id: '1', name: 'a' }]));
    const { reader } = await client(elsewhere(server));
    expect((await reader.listEntries('skill')).items).toHaveLength(1);
    // Requests over http use a tunnel too, so that the proxy cannot answer in place of the service.
    expect([through.seen, server.arrived.length]).toEqual([
      [`CONNECT planning.test:${String(server.port)}`],
      1,
    ]);
    expect(server.arrived[0]?.headers.authorization).toBe(`Bearer ${TOKEN}`);
  });

  it('is not used for the hosts in NO_PROXY', async () => {
    const through = await proxy();
    environment({ HTTP_PROXY: through.url, NO_PROXY: 'example.org,planning.test' });
    const server = await serve((response) => json(response, []));
    const { reader } = await client(elsewhere(server));
    // Nothing else resolves that name.
    await expect(reader.listEntries('skill')).rejects.toThrow('cannot connect to planning.test');
    expect([through.seen, server.arrived.length]).toEqual([[], 0]);
  });

  it.each(['127.0.0.1', 'localhost', '[::1]'])('is not used for %s, which is this machine', async (host) => {
    const through = await proxy();
    environment({ HTTP_PROXY: through.url, HTTPS_PROXY: through.url, NO_PROXY: '' });
    const { reader } = await client(`http://${host}:1`);
    await expect(reader.listEntries('skill')).rejects.toThrow('cannot connect to');
    expect(through.seen).toEqual([]);
  });

  it.each([
    ['not an address', /^HTTP_PROXY is not the URL of an HTTP proxy/],
    ['http://me:p%zzss-w0rd@:1', /^HTTP_PROXY is not the URL of an HTTP proxy/],
    [
      'me:p%zzss-w0rd@127.0.0.1:1',
      /: the proxy 127.0.0.1:1 \(HTTP_PROXY\) opened no tunnel \(ECONNREFUSED\)/,
    ],
    ['socks5://127.0.0.1:1', /^HTTP_PROXY is not the URL of an HTTP proxy/],
    ['http://me:p4@w0rd/x@127.0.0.1:1', /^HTTP_PROXY is not the URL of an HTTP proxy/],
  ])(
    'that is %j is reported without its value, and stops only those who would use it',
    async (address, words) => {
      environment({ HTTP_PROXY: address, HTTPS_PROXY: 'http://127.0.0.1:1', NO_PROXY: 'exempt.test' });
      const server = await serve((response) => json(response, []));
      const connections = connect({ retries: 0 });
      const failureAt = async (url: string): Promise<string> =>
        await connections
          .reader(accountAt(url, url), newSignals().signals)
          .then((reader) => reader.listEntries('skill'))
          .then(
            () => 'none',
            (error: unknown) => (error instanceof Error ? error.message : String(error)),
          );
      const failure = await failureAt('http://planning.test');
      expect(failure).toMatch(words);
      expect(failure).not.toMatch(/not an address|w0rd|socks5/);
      expect(await failureAt(server.url)).toBe('none');
      expect(await failureAt('http://exempt.test:1')).toMatch(/^cannot connect to exempt.test:1/);
      expect(await failureAt('https://planning.test')).toContain('the proxy 127.0.0.1:1 (HTTPS_PROXY)');
    },
  );

  it('is accepted without a scheme, as curl does', async () => {
    const through = await proxy();
    environment({ HTTP_PROXY: through.url.replace('http://', '') });
    const server = await serve((response) => json(response, []));
    const { reader } = await client(elsewhere(server));
    expect((await reader.listEntries('skill')).items).toEqual([]);
    expect(through.seen).toHaveLength(1);
  });

  it.each([
    [
      '407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n',
      1,
      'status 407): Proxy Authentication Required; write',
    ],
    [
      `403 No\r\nContent-Length: 40\r\n\r\n${'<html><title>ECHO</title>'.padEnd(40)}`,
      1,
      'status 403): No; a web page, “[redacted]',
    ],
    [
      '502 Bad Gateway\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nno\u202eroute\r\n0\r\n\r\n',
      3,
      'status 502): Bad Gateway; no route',
    ],
    ['503 Full\r\n\r\n{"detail":"at noon"}', 3, 'status 503): Full; at noon; ask'],
    ['', 3, 'opened no tunnel (ECONNRESET); check'],
    ['nothing', 3, 'opened no tunnel (ETIMEDOUT); check'],
    ['garbage', 3, 'opened no tunnel (HPE_INVALID_CONSTANT); check'],
  ])(
    'that answers a tunnel with %j makes a create fail without an effect, and is named with its words',
    async (answer, attempts, words) => {
      const server = createServer();
      const port = String(await listening(server));
      const sockets: Duplex[] = [];
      onTestFinished(() => sockets.forEach((socket) => void socket.destroy()));
      server.on('connect', ({ headers, url }, socket) => {
        expect(url).toBe('[2001:db8::1]:80');
        sockets.push(socket.on('error', () => undefined));
        const [, pair = ''] = String(headers['proxy-authorization']).split(' ');
        if (answer === 'garbage') socket.end('SSH-2.0-x\r\n');
        else if (answer === '') socket.destroy();
        // The body comes later than the head.
        else if (answer !== 'nothing') {
          const [head = '', ...body] = answer.replace('ECHO', pair).split('\r\n\r\n');
          socket.write(`HTTP/1.1 ${head}\r\n\r\n`, () => socket.write(body.join('\r\n\r\n')));
        }
      });
      environment({ HTTP_PROXY: `http://me:pr0xyPassw0rd@127.0.0.1:${port}` });
      const { writer } = await client('http://[2001:db8::1]', { timeoutMs: 400 });
      const outcome = await writer.create('skill', 'a', ALWAYS);
      expect(outcome).toMatchObject({ type: 'failed', attempts });
      const message = outcome.type === 'failed' ? outcome.error.message : '';
      expect(message).toContain(`cannot connect to [2001:db8::1]: the proxy 127.0.0.1:${port} (HTTP_PROXY)`);
      expect(message).toContain(words);
    },
  );

  it.each(['http://127.0.0.1:1', 'http://nowhere.invalid:3128'])(
    'that cannot be reached (%s) makes a create fail after retries, without an effect, and is named',
    async (address) => {
      environment({ HTTP_PROXY: address });
      const { writer } = await client('http://planning.test');
      expect(await writer.create('skill', 'a', ALWAYS)).toMatchObject({
        type: 'failed',
        attempts: 3,
        error: {
          message: expect.stringContaining(`the proxy ${address.slice(7)} (HTTP_PROXY) opened no tunnel`),
        },
      });
    },
  );

  it('that breaks a tunnel after the request makes a create doubtful', async () => {
    const server = await serve((_response, _request, _index, socket) => void socket.destroy());
    environment({ HTTP_PROXY: (await proxy()).url });
    const { writer } = await client(elsewhere(server));
    expect(await writer.create('skill', 'a', ALWAYS)).toMatchObject({ type: 'doubtful', attempts: 1 });
    expect(server.arrived).toHaveLength(1);
  });
});

function hasOpenssl(): boolean {
  try {
    execFileSync('openssl', ['version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

describe.skipIf(!hasOpenssl())('a certificate that no public authority signed', () => {
  function certificate(): { folder: string; key: Buffer; cert: Buffer; file: string } {
    const folder = mkdtempSync(join(tmpdir(), 'rolecall-tls-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1,DNS:planning.test'];
    const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
    execFileSync('openssl', ['req', '-x509', ...kind, '-keyout', key, '-out', cert, ...subject], {
      stdio: 'ignore',
    });
    return { folder, key: readFileSync(key), cert: readFileSync(cert), file: cert };
  }

  async function tlsServer({
    key,
    cert,
  }: {
    key: Buffer;
    cert: Buffer;
  }): Promise<{ url: string; arrived: Arrived[] }> {
    const arrived: Arrived[] = [];
    const server = createTlsServer(
      { key, cert },
      handler(arrived, (response) => json(response, [])),
    );
    return { url: `https://127.0.0.1:${String(await listening(server))}`, arrived };
  }

  it('is trusted when api.caFile contains its authority', async () => {
    environment({});
    const own = certificate();
    const server = await tlsServer(own);
    const { reader } = await client(server.url, { caFile: own.file });
    expect((await reader.listEntries('skill')).items).toEqual([]);
  });

  it.each([false, true])(
    'is trusted through a proxy, also as that of the proxy (https: %s)',
    async (isTls) => {
      const own = certificate();
      const { url, arrived } = await tlsServer(own);
      const through = await proxy(isTls ? own : undefined);
      environment({ HTTPS_PROXY: through.url });
      const address = url.replace('127.0.0.1', 'planning.test');
      const { reader } = await client(address, { caFile: own.file });
      expect((await reader.listEntries('skill')).items).toEqual([]);
      expect([through.seen, arrived.length]).toEqual([[`CONNECT ${new URL(address).host}`], 1]);
      const { writer } = await client(address);
      expect(await writer.create('skill', 'a', ALWAYS)).toMatchObject({
        type: 'failed',
        attempts: 1,
        error: {
          message: expect.stringMatching(isTls ? /certificate of the proxy 127/ : /certificate of planning/),
        },
      });
    },
  );

  it('is otherwise rejected immediately, with the setting that fixes it and without sending the token', async () => {
    environment({});
    const server = await tlsServer(certificate());
    const { reader, writer } = await client(server.url);
    const error: unknown = await reader.listEntries('skill').catch((reason: unknown) => reason);
    expect(String(error)).toContain('api.caFile');
    expect(reader.traffic().requests).toBe(1);
    expect(await writer.create('skill', 'a', ALWAYS)).toMatchObject({ type: 'failed', attempts: 1 });
    expect(server.arrived).toEqual([]);
  });

  it('of a file that cannot be read is an error of the configuration', async () => {
    environment({});
    const folder = mkdtempSync(join(tmpdir(), 'rolecall-tls-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const connections = connect({ caFile: join(folder, 'none.pem') });
    const account = accountAt('https://127.0.0.1:1');
    await expect(connections.reader(account, newSignals().signals)).rejects.toBeInstanceOf(ConfigError);
    // A caller that failed to open must still be able to close.
    await connections.close();
  });
});
