// The address that a request comes from: that of the connection, or what a trusted proxy says of it.
import { BlockList, isIP, isIPv6 } from 'node:net';

/** No chain of proxies is longer; the rest of a longer header is not read. */
const MOST_HOPS = 32;

/** Reads the client of a connection from the `X-Forwarded-For` header that came with it. */
export type ClientAddress = (connection: string, forwardedFor: string | undefined) => string;

/**
 * The rightmost address that is not a trusted proxy: what stands to the left of it can be made up by the client. Only
 * trusted proxies (addresses or networks) are believed; without them the header counts for nothing.
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
    for (const hop of forwardedFor.split(',').slice(-MOST_HOPS).toReversed()) {
      if (!isTrusted(client)) break;
      const next = plain(hop.trim());
      if (isIP(next) === 0) break;
      client = next;
    }
    return client;
  };
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIPv6(address) ? 'ipv6' : 'ipv4';
}

/** Without brackets, port and zone; an IPv4 address that is spelt as IPv6 in the spelling of IPv4. */
function plain(text: string): string {
  const address =
    /^\[([^\]]*)\](?::\d+)?$/.exec(text)?.[1] ?? /^(\d+(?:\.\d+){3}):\d+$/.exec(text)?.[1] ?? text;
  const bare = address.replace(/%.*$/, '');
  return /^::ffff:(\d+(?:\.\d+){3})$/i.exec(bare)?.[1] ?? bare;
}
