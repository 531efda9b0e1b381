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

const KNOWN_HOSTS = { github: 'commit', gitlab: '-/commit', bitbucket: 'commits' } as const;
const REMOTE =
  /^(?:https:\/\/(?:[^/]*@)?(?<https>[\w.-]+)\/|ssh:\/\/(?:[^/]*@)?(?<ssh>[\w.-]+)(?::\d+)?\/|(?:[^/:@]+@)?(?<scp>[\w.-]+):)(?<path>(?:[\w.-]+\/)+[\w.-]+?)(?:\.git)?\/?$/u;

/**
 * What the address of a repository's commit on the web begins with, before the id of the commit; undefined unless its host
 * is bitbucket.org or begins with `github.` or `gitlab.`. Contains no user, password, port or query.
 */
export function commitsAddress(remote: string): string | undefined {
  const { https, ssh, scp, path = '' } = REMOTE.exec(remote)?.groups ?? {};
  const host = (https ?? ssh ?? scp ?? '').toLowerCase();
  const kind = /^(?:(github|gitlab)\.[^.]|(bitbucket)\.org$)/u.exec(host)?.slice(1).join('');
  return kind ? `https://${host}/${path}/${KNOWN_HOSTS[kind as keyof typeof KNOWN_HOSTS]}/` : undefined;
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
