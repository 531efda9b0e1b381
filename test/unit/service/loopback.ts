// A loopback server whose answers a test decides, and its client; both are closed after the test.
import { readAuthorities } from '../../../src/config/secrets.ts';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import type { RunSignals } from '../../../src/core/ports/clock.ts';
import type { ServiceReader, ServiceWriter } from '../../../src/core/ports/service.ts';
import { Secret } from '../../../src/core/secret.ts';
import type { ApiSettings } from '../../../src/core/settings.ts';
import type { ConnectionOptions, Connections } from '../../../src/service/connections.ts';
import { createConnections } from '../../../src/service/connections.ts';
import { accountAt } from './account-at.ts';

/** With the characters that a bearer token can have (RFC 6750) and that JSON can escape. */
export const TOKEN = 'tok/en+with~odd_chars==';

/** A delete that may be sent at any time. */
export const ALWAYS = (): boolean => true;

export const API: ApiSettings = {
  concurrency: 8,
  requestsPerSecond: 1000,
  retries: 2,
  hostConcurrency: 32,
  timeoutMs: 2000,
  settleMs: 2500,
  recheckMs: 10,
};

/** A complete request, as it arrived. */
export interface Arrived {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  readonly atMs: number;
}

/** Decides the answer to the n-th request (from 0); the request has been read. */
export type Answering = (
  response: ServerResponse,
  request: Arrived,
  index: number,
  socket: Socket,
) => void | Promise<void>;

export interface Loopback {
  readonly url: string;
  readonly port: number;
  readonly arrived: Arrived[];
}

export async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  return (server.address() as AddressInfo).port;
}

/** Records every request and lets the test answer it. */
export function handler(arrived: Arrived[], answering: Answering) {
  return (request: IncomingMessage, response: ServerResponse): void => {
    const chunks: Buffer[] = [];
    const atMs = performance.now();
    request.on('error', () => undefined);
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const noted = {
        method: request.method ?? '',
        url: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(chunks).toString('utf8'),
        atMs,
      };
      arrived.push(noted);
      void answering(response, noted, arrived.length - 1, request.socket);
    });
  };
}

export async function serve(answering: Answering): Promise<Loopback> {
  const arrived: Arrived[] = [];
  const server = createServer(handler(arrived, answering));
  const port = await listening(server);
  return { url: `http://127.0.0.1:${String(port)}`, port, arrived };
}

/** Answers JSON. */
export function json(response: ServerResponse, value: unknown, status = 200, headers = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(value));
}

export interface Client {
  readonly reader: ServiceReader;
  readonly writer: ServiceWriter;
  readonly stop: AbortController;
  readonly kill: AbortController;
  readonly connections: Connections;
}

export function connect(api: Partial<ApiSettings> = {}, more: Partial<ConnectionOptions> = {}): Connections {
  const connections = createConnections({
    api: { ...API, ...api },
    version: '1.2.3',
    token: ({ name }) => Promise.resolve(new Secret(name === 'acme' ? TOKEN : `${TOKEN}${name}`)),
    observer: () => () => undefined,
    authorities: readAuthorities,
    ...more,
  });
  onTestFinished(() => connections.close());
  return connections;
}

export function newSignals(): { stop: AbortController; kill: AbortController; signals: RunSignals } {
  const stop = new AbortController();
  const kill = new AbortController();
  return { stop, kill, signals: { stop: stop.signal, kill: kill.signal } };
}

/** The client of one account in one run. */
export async function client(
  baseUrl: string,
  api: Partial<ApiSettings> = {},
  more: Partial<ConnectionOptions> = {},
): Promise<Client> {
  const connections = connect(api, more);
  const { stop, kill, signals } = newSignals();
  const account = accountAt(baseUrl);
  return {
    reader: await connections.reader(account, signals),
    writer: await connections.writer(account, signals),
    stop,
    kill,
    connections,
  };
}
