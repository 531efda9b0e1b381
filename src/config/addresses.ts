// Parses the addresses of configuration files. No message quotes an address, because it may contain a password.
import { isIP, isIPv4 } from 'node:net';
import { remoteKind, isLoopback } from '../core/remote-address.ts';

/** A parsed value, or what is wrong with its text. */
export type Checked<T> = { readonly value: T } | { readonly problem: string };

/** PostgreSQL has an index of base addresses, and an entry of an index is limited. */
const LONGEST_ADDRESS = 2000;

/** A base address without its trailing slash. Whether http is allowed is checked separately, by `isPlainHttp`. */
export function parseBaseUrl(text: string): Checked<string> {
  if (!/^https?:\/\/[^\s\\]+$/iu.test(text))
    return { problem: 'an address starts with https:// and has no white space; write it as https://host' };
  const url = parseUrl(text);
  if (url === undefined) return { problem: 'this is not an address; write it as https://host' };
  if (url.username !== '' || url.password !== '' || /^https?:\/\/[^/]*@/iu.test(text)) {
    return {
      problem: 'an address must not contain a user name or password; write the token reference into `token`',
    };
  }
  if (/[?#]/u.test(text)) return { problem: 'a base address has no ? and no #; remove it and what follows' };
  const path = url.pathname.replace(/\/+$/u, '');
  if (path.endsWith('/api/public/v1')) {
    return { problem: 'rolecall adds /api/public/v1 to the base address; remove it here' };
  }
  const value = `${url.origin}${path}`;
  if (value.length > LONGEST_ADDRESS) {
    return { problem: `a base address has at most ${LONGEST_ADDRESS} characters; use a shorter one` };
  }
  return { value };
}

/** Whether a parsed base address would send the token unencrypted over a network. */
export function isPlainHttp(baseUrl: string): boolean {
  if (baseUrl.startsWith('https://')) return false;
  const url = parseUrl(baseUrl);
  return url?.protocol === 'http:' && !isLoopback(url.hostname);
}

/** A glob over origins as `URL.origin` spells them: in lower case, without a path and without the default port. */
export function parseOriginGlob(text: string): Checked<string> {
  if (text === '*') return { value: text };
  const [, scheme, rest] = /^(https?):\/\/([^\s/#@\\]+)\/?$/iu.exec(text) ?? [];
  if (scheme === undefined || rest === undefined)
    return {
      problem: 'an origin is https://host or https://host:port, without a path; * matches any characters',
    };
  const usual = scheme.toLowerCase() === 'https' ? ':443' : ':80';
  const host = rest.toLowerCase();
  return { value: `${scheme.toLowerCase()}://${host.endsWith(usual) ? host.slice(0, -usual.length) : host}` };
}

/** A webhook's address: http or https. A query is allowed, because many webhooks have their key there. */
export function parseWebhookUrl(text: string): Checked<string> {
  const url = /^https?:\/\/[^\s\\]+$/iu.test(text) ? parseUrl(text) : undefined;
  if (url === undefined)
    return { problem: 'must be an address that starts with https:// (the value is not shown)' };
  if (url.username !== '' || url.password !== '') {
    return {
      problem: 'an address must not contain a user name or password (the value is not shown); remove them',
    };
  }
  return { value: text };
}

/**
 * A repository that git can fetch from, without credentials in its address and without a way to run a program. The
 * fetched files decide what is deleted, so only protocols that protect the content are allowed.
 */
export function parseGitUrl(text: string): Checked<string> {
  if (text === '' || text.startsWith('-') || text.includes('::') || /[\p{Cc}\s]/u.test(text)) {
    return { problem: 'must be a repository that git can fetch, such as https://host/owner/name.git' };
  }
  const url = /^[a-z]+:\/\//iu.test(text) ? parseUrl(text) : undefined;
  const httpUser = url !== undefined && url.protocol.startsWith('http') && url.username !== '';
  if (httpUser || (url !== undefined && url.password !== '')) {
    return {
      problem: 'the address contains credentials (not shown); write a reference to them into `credentials`',
    };
  }
  const kind = remoteKind(text);
  if (kind === 'other' || (kind === 'http' && (url === undefined || isPlainHttp(text)))) {
    return { problem: 'this cannot be fetched safely; use https:// or ssh' };
  }
  return { value: text };
}

/** `host:port` of a listening address; IPv6 in brackets. */
export function parseListen(text: string): Checked<{ host: string; port: number }> {
  const [, bracketed, plain, digits] = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9.-]+)):(\d{1,5})$/iu.exec(text) ?? [];
  const host = bracketed ?? plain;
  const port = Number(digits);
  const isValid =
    bracketed === undefined ? !/^[\d.]+$/u.test(plain ?? '') || isIPv4(plain ?? '') : isIP(bracketed) === 6;
  if (host === undefined || !isValid || port > 65_535) {
    return {
      problem: 'a listening address is host:port; write it as 127.0.0.1:8080, 0.0.0.0:8080 or [::1]:8080',
    };
  }
  return { value: { host, port } };
}

function parseUrl(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}
