// Addresses of PostgreSQL databases: their parts, and their forms in messages, which never contain a password.

/** A checked address of a database. */
export interface PostgresAddress {
  /** For the client, with its password. The modes of TLS have the meaning that they have for psql. */
  readonly url: string;
  readonly hasPassword: boolean;
}

const FORM = 'write it as postgres://USER@HOST/DATABASE';

/** Parameters that would be secret, and those that both psql and the client understand. */
const SECRET_KEYS = ['password', 'sslpassword'];
const KEYS = ['host', 'port', 'user', 'sslmode', 'sslrootcert', 'sslcert', 'sslkey'];
/** Makes the client read `sslmode` as psql does; otherwise it warns, and verifies more than was requested. */
const LIBPQ = 'uselibpqcompat';
const TLS_MODES = ['disable', 'require', 'verify-ca', 'verify-full'];

/**
 * Parses the address of a database, or returns what is wrong with it and how to fix it. A parameter that would be ignored
 * is an error, because a mistyped `sslmode` would send everything unencrypted.
 */
export function parsePostgresUrl(
  text: string,
): { readonly value: PostgresAddress } | { readonly problem: string } {
  if (!/^postgres(?:ql)?:\/\/[^\s\\\p{Cc}]+$/u.test(text) || !URL.canParse(text)) {
    return { problem: `it is not the address of a database; ${FORM}` };
  }
  const url = new URL(text);
  const problem = problemOf(url);
  if (problem !== undefined) return { problem };
  const { searchParams: given } = url;
  const hasPassword = url.password !== '' || SECRET_KEYS.some((key) => given.has(key));
  return {
    value: {
      url: clientUrl(url),
      hasPassword,
    },
  };
}

/** Host, port and database of an address that was parsed before, for messages. */
export function shownDatabase(address: string): string {
  const { hostname, port: own, pathname, searchParams: given } = new URL(address);
  const host = decodeURIComponent(hostname) || (given.get('host') ?? '');
  const port = own || given.get('port');
  return `${host}${port === null ? '' : `:${port}`}/${decodeURIComponent(pathname.slice(1))}`;
}

/** An address that was parsed before, for PostgreSQL's own programs: without the password. */
export function publicUrl(address: string): string {
  const url = new URL(address);
  url.password = '';
  for (const key of [...SECRET_KEYS, LIBPQ]) url.searchParams.delete(key);
  // Searching escapes the slashes of a folder, which is valid and hard to read.
  return url.href.replace(/\?.*$/u, (query) => query.replaceAll('%2F', '/'));
}

function problemOf(url: URL): string | undefined {
  const { searchParams: given } = url;
  const keys = [...given.keys()];
  const unknown = keys.filter((key) => ![...KEYS, ...SECRET_KEYS].includes(key));
  if (unknown.length > 0 || url.hash !== '') {
    return `it has a part that rolecall does not use (not shown); the parameters are ${KEYS.join(', ')}`;
  }
  const parts = { host: url.hostname, port: url.port, user: url.username, password: url.password };
  const isTwice = Object.entries(parts).some(([key, part]) => part !== '' && given.has(key));
  if (isTwice || new Set(keys).size < keys.length || [...given.values()].includes('')) {
    return 'a part of it is empty or written twice; remove it';
  }
  const isDatabase =
    /^\/[^/]+$/u.test(url.pathname) && isDecodable(url.hostname) && isDecodable(url.pathname);
  if (!isDatabase || !/^[^,]+$/u.test(`${url.hostname}${given.get('host') ?? ''}`)) {
    return `it does not name one host and one database; ${FORM}`;
  }
  if (!/^[1-9]\d{0,4}$/u.test(given.get('port') ?? '1')) return 'its port is not a number';
  const mode = given.get('sslmode');
  if (mode !== null && !TLS_MODES.includes(mode)) {
    return `its sslmode must be ${TLS_MODES.slice(0, -1).join(', ')} or ${TLS_MODES.at(-1) ?? ''}`;
  }
  const needsMode = ['sslrootcert', 'sslcert', 'sslkey'].some((key) => given.has(key));
  if (needsMode && (mode === null || mode === 'disable')) {
    return 'it names a certificate but uses no TLS; add sslmode=verify-full';
  }
  if (mode === 'verify-ca' && !given.has('sslrootcert')) {
    return 'sslmode=verify-ca needs sslrootcert; add it, or use verify-full';
  }
  return undefined;
}

function clientUrl(url: URL): string {
  const copy = new URL(url);
  if (copy.searchParams.has('sslmode')) copy.searchParams.set(LIBPQ, 'true');
  return copy.href;
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
