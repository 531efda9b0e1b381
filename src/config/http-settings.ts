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
import type { ConfigIssue } from '../core/errors.ts';
import { HTTP_OPERATOR } from '../core/operator.ts';
import { isLoopback } from '../core/remote-address.ts';
import type { HttpSettings } from '../core/settings.ts';
import { issueAt, type YamlFile, quoted } from './yaml/yaml-file.ts';
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

/** Problems of `http` that its schema can't find; `raw` is that section as it was read. */
export function httpIssues(file: YamlFile, raw: Raw): ConfigIssue[] {
  return [...listenIssues(file, raw), ...tokenIssues(file, raw), ...identityIssues(file, raw)];
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

function listenIssues(file: YamlFile, raw: Raw): ConfigIssue[] {
  const { listen, publicUrl } = validKeys(httpSchema, raw);
  if (listen === undefined || isLoopback(listen.host)) return [];
  const hasToken = Object.hasOwn(raw, 'token') || (Array.isArray(raw['tokens']) && raw['tokens'].length > 0);
  if (!hasToken) {
    const message =
      'listening on an address other than loopback needs `http.token` or `http.tokens`; add one, or listen on 127.0.0.1';
    return [issueAt(file, ['http', 'listen'], message)];
  }
  if (publicUrl?.startsWith('https:') === true) return [];
  const message =
    'the HTTP interface sends tokens, sessions and reports unencrypted; use a proxy with TLS, and set `http.publicUrl` to its https:// address';
  return [issueAt(file, ['http', 'listen'], message, 'warning')];
}

/** A header that no proxy guards could be sent by anybody; names that no proxy reports have no effect. */
function identityIssues(file: YamlFile, raw: Raw): ConfigIssue[] {
  const needs = (key: string, other: string, reason: string): ConfigIssue[] => {
    if (!hasItems(raw[key]) || hasItems(raw[other])) return [];
    const message = `\`http.${key}\` needs \`http.${other}\`, ${reason}; add it, or remove this`;
    return [issueAt(file, ['http', key], message)];
  };
  return [
    ...needs('identityHeader', 'trustedProxies', 'because anybody else could send the header'),
    ...needs('operators', 'identityHeader', 'which reports the names'),
  ];
}

function hasItems(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== null;
}

/** Two tokens with one name are the same in the log; one token with two names would have two roles. */
function tokenIssues(file: YamlFile, raw: Raw): ConfigIssue[] {
  const { token: first } = validKeys(httpSchema, raw);
  const taken = new Set(first === undefined ? [] : [`name ${HTTP_OPERATOR}`, refKey(first)]);
  return (Array.isArray(raw['tokens']) ? raw['tokens'] : []).flatMap((item: unknown, index) => {
    const read = tokenSchema.safeParse(item).data;
    if (read === undefined) return [];
    const sameName = `duplicate token name ${quoted(read.name)}; give each token a different name`;
    const sameToken = 'another name has the same token; use a different token for each name';
    const parts = [
      ['name', `name ${read.name}`, sameName],
      ['token', refKey(read.token), sameToken],
    ] as const;
    const repeated = parts.filter(([, key]) => taken.has(key));
    for (const [, key] of parts) taken.add(key);
    return repeated.map(([part, , message]) => issueAt(file, ['http', 'tokens', index, part], message));
  });
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
