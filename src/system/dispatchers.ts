// Sends requests over HTTP: directly, or through the proxy of the environment. Requests to this machine never use a proxy:
// plain http is allowed for them because they do not leave the machine. No other file imports undici.
import { setFlagsFromString } from 'node:v8';
import type { Agent as Agents, Dispatcher } from 'undici';
import { ServiceError } from '../core/errors.ts';
import { isLoopback } from '../core/remote-address.ts';
import type { Secret } from '../core/secret.ts';

// V8 compiles the WebAssembly parser of undici with an optimising compiler in the background, which a short process would
// wait for at its end. The baseline compiler is fast enough.
setFlagsFromString('--liftoff-only');

// The main module of undici also loads fetch, WebSocket, caches and mocks: a fifth of the time of a short command.
const { default: Agent } = await import('undici/lib/dispatcher/agent.js');
const { default: EnvHttpProxyAgent } = await import('undici/lib/dispatcher/env-http-proxy-agent.js');
const { default: AnyDispatcher } = await import('undici/lib/dispatcher/dispatcher.js');
const { default: methods } = await import('undici/lib/api/index.js');
// As the main module does. Requests and tunnels of a proxy are methods of every dispatcher.
Object.assign(AnyDispatcher.prototype, methods);

/** More than the plans of all the accounts that a daemon accepts. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

const VARIABLES = ['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy'];

export interface Dispatchers {
  /** The dispatcher for an address. https requests use a tunnel (CONNECT), so a proxy can't read them. */
  to(address: string | URL): Dispatcher;
  close(): Promise<void>;
}

/** `ca`: the trusted authorities, also for a proxy. Throws ServiceError if the address of a proxy is invalid. */
export function openDispatchers(options: Agents.Options, ca?: readonly string[]): Dispatchers {
  const direct = new Agent(options);
  const proxied = isProxied() ? openProxied(options, ca) : direct;
  return {
    to: (address) => (isLoopback(new URL(address).hostname) ? direct : proxied),
    async close() {
      await Promise.all([direct.destroy(), proxied === direct ? undefined : proxied.destroy()]);
    },
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

function isProxied(): boolean {
  return VARIABLES.some((name) => (process.env[name] ?? '') !== '');
}

function openProxied(options: Agents.Options, ca?: readonly string[]): Dispatcher {
  const tls = ca === undefined ? {} : { requestTls: { ca: [...ca] }, proxyTls: { ca: [...ca] } };
  try {
    return new EnvHttpProxyAgent({ ...options, ...tls });
  } catch {
    // The error of the library quotes the address, which may contain a password.
    throw new ServiceError(
      'unavailable',
      `${VARIABLES.slice(0, 2).join(' or ')} is not a valid URL (the value is not shown); correct it or unset it`,
    );
  }
}

/**
 * Posts JSON with a bearer token; redirects are not followed. Rejects when no complete answer arrives in time. Throws
 * ServiceError when the proxy is not a valid URL or the answer is too large.
 */
export async function postJson(
  url: URL,
  token: Secret,
  body: string,
  timeoutMs: number,
): Promise<Pick<Dispatcher.ResponseData, 'headers'> & { readonly status: number; readonly text: string }> {
  const dispatchers = openDispatchers({ headersTimeout: timeoutMs, bodyTimeout: timeoutMs });
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
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of response.body as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > MAX_ANSWER_BYTES) {
        throw new ServiceError(
          'malformed',
          `the daemon at ${url.host} sent more than ${MAX_ANSWER_BYTES / 1024 / 1024} MiB, which is more than any plan; check the address`,
        );
      }
      chunks.push(chunk);
    }
    return {
      status: response.statusCode,
      headers: response.headers,
      text: Buffer.concat(chunks).toString('utf8'),
    };
  } finally {
    await dispatchers.close();
  }
}
