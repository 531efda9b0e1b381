// The way to an address: straight, or through the proxy that the environment names. What stands on this machine is
// never asked through a proxy: plain http is allowed there because it does not leave the machine (contract, section 2).
import type { Agent as Agents, Dispatcher } from 'undici';
import { ServiceError } from '../core/errors.ts';
import { isLoopback } from '../core/loopback.ts';
import { Agent, EnvHttpProxyAgent } from './undici.ts';

const VARIABLES = ['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy'];

export interface Dispatchers {
  /** What sends to an address. A proxy is asked for a tunnel (CONNECT) and never sees a request of https. */
  to(address: string | URL): Dispatcher;
  close(): Promise<void>;
}

/** `ca` are the authorities that are trusted, also for a proxy. Throws ServiceError when a proxy's address is none. */
export function openDispatchers(options: Agents.Options, ca?: readonly string[]): Dispatchers {
  const straight = new Agent(options);
  const proxied = isProxied() ? openProxied(options, ca) : straight;
  return {
    to: (address) => (isLoopback(new URL(address).hostname) ? straight : proxied),
    async close() {
      await Promise.all([straight.destroy(), proxied === straight ? undefined : proxied.destroy()]);
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
    // The error would quote the address, which may hold a password.
    throw new ServiceError(
      'unavailable',
      `a proxy of the environment is no address; mend ${VARIABLES.slice(0, 2).join(' or ')} (the value is not shown)`,
    );
  }
}
