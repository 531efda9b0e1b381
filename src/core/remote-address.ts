// Addresses of git repositories: how git reaches them, and how a message shows them without what is secret in them.

/** What git makes of a repository's address. */
export function remoteKind(url: string): 'http' | 'ssh' | 'local' | 'other' {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//iu.exec(url)?.[1]?.toLowerCase();
  if (scheme === 'https' || scheme === 'http') return 'http';
  if (scheme === 'ssh') return 'ssh';
  if (scheme === 'file') return 'local';
  if (scheme !== undefined) return 'other';
  // host:path, as scp has it, has its colon before any slash.
  return /^[^/]*:/u.test(url) ? 'ssh' : 'local';
}

/** A repository's address without user name, password and query, for messages. */
export function shownRemote(url: string): string {
  return url
    .replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/iu, '$1')
    .replace(/^[^/:@]+@(?=[^/]*:)/u, '')
    .replace(/[?#].*$/u, '');
}

/** A text without the users and passwords of the addresses in it. Begins at `://`: a scheme would be searched for from every letter. */
export function withoutUsers(text: string): string {
  return text.replace(/:\/\/[^/?#\s'"@]*(?:@[^/?#\s'"@]*)*@/gu, '://');
}
