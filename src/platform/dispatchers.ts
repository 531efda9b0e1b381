// Opens the HTTP dispatchers: direct, or through the proxy of the environment. Requests to this machine never use a
// proxy: plain http is allowed for them because they do not leave the machine.
import type { Agent as Agents, Dispatcher } from 'undici';
import { ServiceError } from '../core/errors.ts';
import { isLoopback } from '../core/loopback.ts';
import { Agent, EnvHttpProxyAgent } from './undici.ts';

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
