// The `http` section of the service file: its schema, its defaults and its warnings.
import { BlockList, isIP } from 'node:net';
import { z } from 'zod';
import {
  absoluteRef,
  refKey,
  baseUrl,
  listenAddress,
  matching,
  nameGlob,
  secretRef,
  setting,
} from './field-formats.ts';
import { HTTP_OPERATOR } from '../core/operator.ts';
import { isLoopback } from '../core/remote-address.ts';
import type { HttpSettings } from '../core/settings.ts';
import { report, type YamlFile, quoted } from './yaml/yaml-file.ts';
import { validKeys } from './schema-issues.ts';

type Raw = Readonly<Record<string, unknown>>;

const tokenName = matching(
  /^[A-Za-z0-9._-]{1,64}$/u,
  'a name of at most 64 letters, digits, ".", "_" and "-"',
);

const tokenSchema = z.strictObject({
  name: tokenName.meta({
    title: 'name',
    description: 'Who uses it; logged with each action.',
    examples: ['ci'],
  }),
  token: setting(secretRef, 'Reference to the token; at least 16 characters.', [
    { env: 'ROLECALL_CI_TOKEN' },
  ]),
  role: setting(
    z.enum(['read', 'operate']),
    '`read`: view and request plans. `operate`: also approve, pause, resume, sync and fetch.',
    ['read'],
  ),
});

/** Not a header that has another meaning: what it contains is logged. */
const headerName = matching(
  /^(?!(?:proxy-)?authorization$|(?:set-)?cookie$|host$|x-forwarded-(?:for|host|proto)$)[A-Za-z0-9-]{1,100}$/iu,
  'the name of a header of its own, such as X-Forwarded-User',
).meta({ title: 'header', pattern: '^[A-Za-z0-9-]+$' });

/** An address, or a network in CIDR notation. */
const network = z
  .string()
  .refine(isNetwork, 'must be an IP address or a network, such as 10.0.0.7 or 10.0.0.0/8')
  .meta({ title: 'network' });

export const httpSchema = z.strictObject({
  listen: setting(
    listenAddress.prefault('127.0.0.1:8080'),
    'The address and port of the HTTP server. An address other than loopback needs a token: guards pages that list people.',
    ['0.0.0.0:8080'],
  ),
  title: setting(
    z.string().min(1).meta({ title: 'text' }).optional(),
    'Name of the installation, which every page shows.',
    ['production'],
  ),
  token: setting(
    secretRef.optional(),
    'Reference to the token of the operator named `http`; at least 16 characters. Without any token nothing can be changed over HTTP.',
    [{ env: 'ROLECALL_HTTP_TOKEN' }],
  ),
  tokens: setting(
    z.array(tokenSchema).max(100).prefault([]),
    'Further tokens, each with a name and a role.',
    [[{ name: 'ci', token: { env: 'ROLECALL_CI_TOKEN' }, role: 'read' }]],
  ),
  trustedProxies: setting(
    z.array(network).max(100).prefault([]),
    'Proxies whose X-Forwarded-For header is trusted: addresses or networks. Guards the log against invented client addresses.',
    [['10.0.0.0/8']],
  ),
  identityHeader: setting(
    headerName.optional(),
    'Header in which a proxy of `trustedProxies` reports who sent the request. It must be set, or removed, by the proxy in every request.',
    ['X-Forwarded-User'],
  ),
  operators: setting(
    z.array(nameGlob).max(1000).prefault([]),
    'Globs of the names in `identityHeader` with the role operate; everybody else whom the proxy names may read.',
    [['ada@example.com', '*@platform.example.com']],
  ),
  publicUrl: setting(
    baseUrl.optional(),
    'The address at which people open the pages: the base of every link. Forms of other addresses are refused, and a path in it must be removed by the proxy.',
    ['https://rolecall.example.com'],
  ),
});

export type HttpFile = z.output<typeof httpSchema>;

/** Reports problems of `http` that its schema can't find; `raw` is that section as it was read. */
export function checkHttp(file: YamlFile, raw: Raw): void {
  checkListen(file, raw);
  checkTokens(file, raw);
  if (lacks(raw, 'identityHeader', 'trustedProxies')) report(file, ['http', 'identityHeader'], NEEDS_PROXIES);
  if (lacks(raw, 'operators', 'identityHeader')) report(file, ['http', 'operators'], NEEDS_HEADER);
}

/** The settings, with absolute paths. */
export function httpSettings(
  { listen, title, publicUrl, token, tokens, trustedProxies, identityHeader, operators }: HttpFile,
  folder: string,
): HttpSettings {
  return {
    ...listen,
    title,
    publicUrl,
    ...(token === undefined ? {} : { token: absoluteRef(token, folder) }),
    tokens: tokens.map((each) => ({ ...each, token: absoluteRef(each.token, folder) })),
    trustedProxies,
    identity: identityHeader === undefined ? undefined : { header: identityHeader, operators },
  };
}

function checkListen(file: YamlFile, raw: Raw): void {
  const { listen, publicUrl } = validKeys(httpSchema, raw);
  if (listen === undefined || isLoopback(listen.host)) return;
  const hasToken = Object.hasOwn(raw, 'token') || (Array.isArray(raw['tokens']) && raw['tokens'].length > 0);
  if (!hasToken) {
    const message =
      'listening on an address other than loopback needs `http.token` or `http.tokens`; add one, or listen on 127.0.0.1';
    report(file, ['http', 'listen'], message);
  } else if (publicUrl?.startsWith('https:') !== true) {
    const message =
      'the HTTP interface sends tokens, sessions and reports unencrypted; use a proxy with TLS, and set `http.publicUrl` to its https:// address';
    report(file, ['http', 'listen'], message, 'warning');
  }
}

const NEEDS_PROXIES =
  '`http.identityHeader` needs `http.trustedProxies`, because anybody else could send the header; add it, or remove this';
const NEEDS_HEADER =
  '`http.operators` needs `http.identityHeader`, which reports the names; add it, or remove this';

function lacks(raw: Raw, key: string, other: string): boolean {
  return hasItems(raw[key]) && !hasItems(raw[other]);
}

function hasItems(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== null;
}

/** Two tokens with one name are the same in the log; one token with two names would have two roles. */
function checkTokens(file: YamlFile, raw: Raw): void {
  const { token: first } = validKeys(httpSchema, raw);
  const taken = new Set(first === undefined ? [] : [`name ${HTTP_OPERATOR}`, refKey(first)]);
  for (const [index, item] of (Array.isArray(raw['tokens']) ? raw['tokens'] : []).entries()) {
    const read = tokenSchema.safeParse(item).data;
    if (read === undefined) continue;
    const name = `name ${read.name}`;
    const token = refKey(read.token);
    if (taken.has(name)) {
      const message = `duplicate token name ${quoted(read.name)}; give each token a different name`;
      report(file, ['http', 'tokens', index, 'name'], message);
    }
    if (taken.has(token)) {
      const message = 'another name has the same token; use a different token for each name';
      report(file, ['http', 'tokens', index, 'token'], message);
    }
    taken.add(name).add(token);
  }
}

function isNetwork(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0 || address.includes('%')) return false;
  if (bits === undefined) return true;
  if (!/^\d{1,3}$/u.test(bits)) return false;
  try {
    new BlockList().addSubnet(address, Number(bits), family === 6 ? 'ipv6' : 'ipv4');
    return true;
  } catch {
    return false;
  }
}
