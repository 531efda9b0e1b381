// Addresses of git repositories: their protocol, and their form in messages, without secrets.

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
