// Sends requests over HTTP: directly, or through the proxy of the environment. Requests to this machine never use a proxy:
// plain http is allowed for them because they do not leave the machine. No other file imports undici.
import type { request as Request } from 'node:http';
import type { Socket } from 'node:net';
import { unescape } from 'node:querystring';
import { promisify } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import type { Agent as Agents, buildConnector as Connectors, Dispatcher } from 'undici';
import { errorCode, ServiceError } from '../core/errors.ts';
import { isLoopback } from '../core/remote-address.ts';
import { Secret } from '../core/secret.ts';

// V8 compiles the WebAssembly parser of undici with an optimising compiler in the background, which a short process would
// wait for at its end. The baseline compiler is fast enough.
setFlagsFromString('--liftoff-only');

// The main module of undici also loads fetch, WebSocket, caches and mocks: a fifth of the time of a short command.
const { default: Agent } = await import('undici/lib/dispatcher/agent.js');
const { default: buildConnector } = await import('undici/lib/core/connect.js');
const { default: AnyDispatcher } = await import('undici/lib/dispatcher/dispatcher.js');
const { default: methods } = await import('undici/lib/api/index.js');
// As the main module does. Requests are methods of every dispatcher.
Object.assign(AnyDispatcher.prototype, methods);

/** More than the plans of all the accounts that a daemon accepts. */
export const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

const BODY_TIMEOUT_MS = 500;
const TIMED_OUT = Object.assign(new Error('timeout'), { code: 'ETIMEDOUT' });

/** There was no connection, or the proxy opened no tunnel: the request was certainly not sent. The cause is the failure. */
export class NotConnected extends Error {
  override readonly name = 'NotConnected';
  readonly code: string;
  /** The proxy, if that is what failed: its name in messages; of its answer the status, and the reason and the body. */
  readonly proxy: { readonly shown: string; readonly status?: number; readonly words?: string[] } | undefined;

  constructor(cause: unknown, proxy?: NotConnected['proxy']) {
    const code = errorCode(cause);
    const how = proxy?.status ? `refused the tunnel (status ${proxy.status})` : `opened no tunnel (${code})`;
    super(proxy === undefined ? code : `${proxy.shown} ${how}`, { cause });
    this.code = proxy === undefined ? code : `proxy_${proxy.status ?? code}`;
    this.proxy = proxy;
  }
}

type Connect = (to: Connectors.Options) => Promise<Socket>;

export interface Dispatchers {
  /**
   * The dispatcher for an address. A proxy is used through a tunnel, so it can't read https. A request that was certainly not
   * sent rejects with NotConnected. Throws ServiceError if the address of the proxy is invalid.
   */
  to(address: string | URL): Dispatcher;
  close(): Promise<void>;
}

/** `ca`: the trusted authorities, also for a proxy. */
type Options = Omit<Agents.Options, 'connect'> & { connect?: { timeout: number; ca?: string[] } };

export function openDispatchers({ connect = { timeout: 10_000 }, ...options }: Options): Dispatchers {
  // A connector without an error always has a socket.
  const direct = promisify(buildConnector(connect)) as Connect;
  /** By the variable of their proxy; undefined for direct connections. */
  const agents = new Map<string | undefined, Agents>();

  function through(variable: string): Connect {
    const open = tunnelsThrough(variable, connect);
    return async (to) => {
      const url = new URL(`${to.protocol}//${to.host}`);
      const httpSocket = await open(`${url.hostname}:${portOf(url)}`);
      return to.protocol === 'https:' ? await direct({ ...to, httpSocket }) : httpSocket;
    };
  }

  return {
    to(address) {
      const url = new URL(address);
      const variable = isLoopback(url.hostname) ? undefined : proxyVariable(url);
      const open = variable === undefined ? direct : through(variable);
      const connector: Connectors.connector = (each, callback) => void settle(open(each), callback);
      const agent = agents.get(variable) ?? new Agent({ ...options, connect: connector });
      agents.set(variable, agent);
      return agent;
    },
    async close() {
      await Promise.all([...agents.values()].map((agent) => agent.destroy()));
    },
  };
}

/** undici handles some codes of errors in ways of its own, and passes on any other error to the requests. */
async function settle(connecting: Promise<Socket>, callback: Connectors.Callback): Promise<void> {
  const marked = (error: unknown): Error => (error instanceof NotConnected ? error : new NotConnected(error));
  const result = await connecting.then(
    (socket): [null, Socket] => [null, socket],
    (error: unknown): [Error, null] => [marked(error), null],
  );
  callback(...result);
}

/** The variable with the proxy for an address, if it uses one: lower case first, as in curl. HTTP_PROXY also serves https. */
function proxyVariable(url: URL): string | undefined {
  return (url.protocol === 'https:' ? ['https_proxy', 'http_proxy'] : ['http_proxy'])
    .map((name) => (process.env[name] === undefined ? name.toUpperCase() : name))
    .find((name) => (process.env[name] ?? '') !== '' && !isExempt(url));
}

/** Whether NO_PROXY is `*`, or names the host or a domain that it is in, without a port or with this one. */
function isExempt(url: URL): boolean {
  const value = (process.env['no_proxy'] ?? process.env['NO_PROXY'] ?? '').toLowerCase();
  return value.split(/[,\s]+/).some((entry) => {
    const [name = '', port = portOf(url)] = entry.replace(/^\*?\./, '').split(/:(?=\d+$)/);
    return value === '*' || (name !== '' && port === portOf(url) && `.${url.hostname}`.endsWith(`.${name}`));
  });
}

/** The port of an address, given or not. */
function portOf({ port, protocol }: URL): string {
  return port || (protocol === 'https:' ? '443' : '80');
}

/**
 * A function that opens tunnels to a host and port through the proxy in a variable, and rejects with NotConnected if the proxy
 * opens none. Without a scheme the proxy is an http one, as in curl. Throws ServiceError if it is no address.
 */
function tunnelsThrough(
  variable: string,
  connect: { readonly timeout: number; readonly ca?: string[] },
): (target: string) => Promise<Socket> {
  const value = (process.env[variable] ?? '').trim();
  const address = value.includes('://') ? value : `http://${value}`;
  // A "/" in a password that is not encoded would make a part of it the host, which messages show.
  if (!/^https?:\/\/[^/\\?#]+\/?$/i.test(address) || !URL.canParse(address)) {
    const problem = `${variable} is not the URL of an HTTP proxy (the value is not shown)`;
    throw new ServiceError('unavailable', `${problem}; write http://HOST:PORT, or unset it`);
  }
  const url = new URL(address);
  const shown = `the proxy ${url.hostname}:${portOf(url)} (${variable})`;
  const login = unescape(`${url.username}:${url.password}`);
  [url.username, url.password] = ['', ''];
  const authorization = `Basic ${Buffer.from(login).toString('base64')}`;
  const own = login === ':' ? {} : { 'proxy-authorization': authorization };
  const [secret, password] = [new Secret(authorization), new Secret(login.slice(login.indexOf(':') + 1))];
  const common = { ...(connect.ca && { ca: connect.ca }), agent: false, method: 'CONNECT' };
  return async (target) => {
    const { request }: { request: typeof Request } = await import(
      url.protocol === 'https:' ? 'node:https' : 'node:http'
    );
    return await new Promise((resolve, reject) => {
      const connecting = request(url, { ...common, path: target, headers: { host: target, ...own } });
      // An idle timeout would never end for a proxy that sends its head byte by byte.
      const timer = setTimeout(() => connecting.destroy(TIMED_OUT), connect.timeout).unref();
      connecting.on('error', (error) => reject(new NotConnected(error, { shown })));
      connecting.once('connect', ({ statusCode: status = 0, statusMessage = '' }, socket, head) => {
        clearTimeout(timer);
        if (status >= 200 && status < 300) return resolve(socket);
        // The parser of Node.js leaves the body on the socket. Its start is enough, as far as it arrives soon.
        const chunks: Buffer[] = [head];
        socket.on('data', (chunk: Buffer) => chunks.push(chunk) < 64 || socket.destroy());
        socket.on('error', () => undefined);
        setTimeout(() => socket.destroy(), BODY_TIMEOUT_MS).unref();
        socket.once('close', () => {
          // In a chunked body, a length comes first.
          const texts = [statusMessage, String(Buffer.concat(chunks)).replace(/^[\da-f]+\r\n/i, '')];
          const words = texts.map((text) => password.scrub(secret.scrub(text)));
          reject(new NotConnected(undefined, { shown, status, words }));
        });
      });
      connecting.end();
    });
  };
}

type RequestOptions = Omit<Dispatcher.RequestOptions, 'origin' | 'path'> & {
  readonly dispatcher: Dispatcher;
};

/** Sends a request to an address. Rejects when there is no answer. */
export function request(
  address: string | URL,
  { dispatcher, ...options }: RequestOptions,
): Promise<Dispatcher.ResponseData> {
  const { origin, pathname, search } = new URL(address);
  return dispatcher.request({ ...options, origin, path: `${pathname}${search}` });
}

/**
 * Posts JSON with a bearer token; redirects are not followed. Rejects when no complete answer arrives in time, or
 * a larger one than MAX_ANSWER_BYTES. Throws ServiceError if the address of the proxy is invalid.
 */
export async function postJson(
  url: URL,
  token: Secret,
  body: string,
  timeoutMs: number,
): Promise<Pick<Dispatcher.ResponseData, 'headers'> & { readonly status: number; readonly text: string }> {
  const limits = { headersTimeout: timeoutMs, bodyTimeout: timeoutMs, maxResponseSize: MAX_ANSWER_BYTES };
  const dispatchers = openDispatchers(limits);
  try {
    const response = await request(url, {
      method: 'POST',
      dispatcher: dispatchers.to(url),
      signal: AbortSignal.timeout(timeoutMs),
      headers: {
        authorization: `Bearer ${token.reveal()}`,
        'content-type': 'application/json',
        accept: 'application/json',
      },
      body,
    });
    return { status: response.statusCode, headers: response.headers, text: await response.body.text() };
  } finally {
    await dispatchers.close();
  }
}
