// Proxies from the environment, and certificates of a private authority.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { connect as connectTo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { ConfigError } from '../../../src/core/errors.ts';
import { accountAt } from './account-at.ts';
import type { Arrived } from './loopback.ts';
import { ALWAYS, client, connect, handler, json, listening, newSignals, serve, TOKEN } from './loopback.ts';

/** A proxy that forwards everything, by tunnel or by absolute address, and records it. */
async function proxy(): Promise<{ url: string; seen: string[] }> {
  const seen: string[] = [];
  const server = createServer((request, response) => {
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
  return { url: `http://127.0.0.1:${String(await listening(server))}`, seen };
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

  it.each(['not an address', 'http://me:p%zzss-w0rd@127.0.0.1:1'])(
    'that is %j is reported without its value',
    async (address) => {
      environment({ HTTP_PROXY: address });
      const failure = client('http://planning.test').then(
        () => 'none',
        (error: unknown) => String(error),
      );
      expect(await failure).toMatch(/HTTP_PROXY or HTTPS_PROXY is not a valid URL/);
      expect(await failure).not.toMatch(/not an|w0rd/);
    },
  );

  it('that cannot be reached makes a create fail after retries, without an effect', async () => {
    const dead = await serve((_response, _request, _index, socket) => void socket.destroy());
    environment({ HTTP_PROXY: 'http://127.0.0.1:1', NO_PROXY: '' });
    const { writer } = await client(elsewhere(dead));
    expect(await writer.create('skill', 'a', ALWAYS)).toMatchObject({ type: 'failed', attempts: 3 });
    expect(dead.arrived).toEqual([]);
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
