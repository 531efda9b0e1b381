// Which hosts are this machine and nothing else: what is sent there does not leave it.

const OCTET = '(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)';
const LOOPBACK_IPV4 = new RegExp(`^127(?:\\.${OCTET}){3}$`);

/** Whether a host, as a URL or a listening address spells it, is this machine and nothing else. */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, '').toLowerCase();
  return bare === 'localhost' || bare === '::1' || LOOPBACK_IPV4.test(bare);
}
