// Decides whether a host is this machine, so that requests to it do not leave the machine.

const OCTET = '(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)';
const LOOPBACK_IPV4 = new RegExp(`^127(?:\\.${OCTET}){3}$`);

/** Whether a host, as written in a URL or a listening address, is always this machine. */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, '').toLowerCase();
  return bare === 'localhost' || bare === '::1' || LOOPBACK_IPV4.test(bare);
}
