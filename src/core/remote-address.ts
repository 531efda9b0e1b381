// Addresses: of git repositories, with their protocol and their form in messages, without secrets; and hosts that are this
// machine, so that requests to them do not leave it.

/** The protocol that git uses for a repository's address. */
export function remoteKind(url: string): 'http' | 'ssh' | 'local' | 'other' {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//u.exec(url.toLowerCase())?.[1];
  if (scheme === 'https' || scheme === 'http') return 'http';
  if (scheme === 'ssh') return 'ssh';
  if (scheme === 'file') return 'local';
  if (scheme !== undefined) return 'other';
  // The scp form, host:path, has its colon before any slash.
  return /^[^/]*:/u.test(url) ? 'ssh' : 'local';
}

/** A repository's address without user name, password and query, for messages. */
export function shownRemote(url: string): string {
  return url
    .replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/iu, '$1')
    .replace(/^[^/:@]+@(?=[^/]*:)/u, '')
    .replace(/[?#].*/su, '');
}

/**
 * Removes users and passwords from the addresses in a text. The pattern starts at `://`, since one that starts at the
 * scheme would be tried at every letter.
 */
export function withoutUsers(text: string): string {
  return text.replace(/:\/\/[^/?#\s'"@]*(?:@[^/?#\s'"@]*)*@/gu, '://');
}

const OCTET = '(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)';
const LOOPBACK_IPV4 = new RegExp(`^127(?:\\.${OCTET}){3}$`);

/** Whether a host, as written in a URL or a listening address, is always this machine. */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, '').toLowerCase();
  return bare === 'localhost' || bare === '::1' || LOOPBACK_IPV4.test(bare);
}
