// Finds the client's address of a request: that of the connection, or the one that a trusted proxy reports.
import { BlockList, isIP, isIPv6 } from 'node:net';
import type { HttpMiddleware } from './context.ts';

/** No real chain of proxies is longer. */
const MAX_HOPS = 32;

/** The client of a connection, with the `X-Forwarded-For` header of the request. */
export type ClientAddress = (connection: string, forwardedFor: string | undefined) => string;

/**
 * The client is the rightmost address that is not a trusted proxy, because the client can invent everything to its left.
 * Without trusted proxies (addresses or networks) the header is ignored.
 */
export function createClientAddress(trustedProxies: readonly string[]): ClientAddress {
  const trusted = new BlockList();
  for (const network of trustedProxies) {
    const [address = '', bits] = network.split('/');
    if (bits === undefined) trusted.addAddress(address, familyOf(address));
    else trusted.addSubnet(address, Number(bits), familyOf(address));
  }
  const isTrusted = (address: string): boolean =>
    isIP(address) !== 0 && trusted.check(address, familyOf(address));

  return (connection, forwardedFor = '') => {
    let client = plain(connection);
    for (const hop of forwardedFor.split(',').slice(-MAX_HOPS).toReversed()) {
      if (!isTrusted(client)) break;
      const next = plain(hop.trim());
      if (isIP(next) === 0) break;
      client = next;
    }
    return client;
  };
}

/** Sets the address of the client in the context. */
export function findAddress(trustedProxies: readonly string[]): HttpMiddleware {
  const clientAddress = createClientAddress(trustedProxies);
  return async (context, next) => {
    const connection = context.env.incoming.socket.remoteAddress ?? '';
    context.set('address', clientAddress(connection, context.req.header('x-forwarded-for')));
    await next();
  };
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIPv6(address) ? 'ipv6' : 'ipv4';
}

/** Without brackets, port and zone; an IPv4 address that is written as IPv6 becomes IPv4. */
function plain(text: string): string {
  const address =
    /^\[([^\]]*)\](?::\d+)?$/.exec(text)?.[1] ?? /^(\d+(?:\.\d+){3}):\d+$/.exec(text)?.[1] ?? text;
  const bare = address.replace(/%.*$/, '');
  return /^::ffff:(\d+(?:\.\d+){3})$/i.exec(bare)?.[1] ?? bare;
}
