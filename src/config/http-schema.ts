// The `http` part of rolecall.yaml as it is written: where the daemon listens, and who may ask it for what.
import { BlockList, isIP } from 'node:net';
import { z } from 'zod';
import { expectations, listenAddress, pathText, secretRef } from './field-formats.ts';

const tokenName = z.string().regex(/^[A-Za-z0-9._-]{1,64}$/u);
expectations.add(tokenName, {
  expected: 'a name of at most 64 letters, digits, ".", "_" and "-"',
});

const tokenSchema = z.strictObject({
  name: tokenName.describe('Who uses it; logged with what is done with it.'),
  token: secretRef('token').describe('Where the token is found; at least 16 characters.'),
  role: z
    .enum(['read', 'operate'])
    .describe('read: look, and request plans. operate: approve, pause, resume and sync as well.'),
});

/** An address, or a network in CIDR notation. */
const network = z
  .string()
  .refine(isNetwork, 'must be an IP address or a network, such as 10.0.0.7 or 10.0.0.0/8');

const tlsSchema = z.strictObject({
  cert: pathText().describe('PEM file of the certificate and its chain, relative to this file.'),
  key: pathText().describe('PEM file of the private key, relative to this file.'),
});

export const httpSchema = z.strictObject({
  listen: listenAddress()
    .prefault('127.0.0.1:8080')
    .describe('host:port; beyond loopback a token is needed.'),
  token: secretRef('token')
    .optional()
    .describe('Where the token of the operator named `http` is found; at least 16 characters.'),
  tokens: z.array(tokenSchema).max(100).prefault([]).describe('Further tokens, each with a name and a role.'),
  trustedProxies: z
    .array(network)
    .max(100)
    .prefault([])
    .describe('Proxies whose X-Forwarded-For is believed: addresses or networks.'),
  tls: tlsSchema.optional().describe('Certificate and key of the HTTP interface; SIGHUP reads them again.'),
});

export type HttpFile = z.output<typeof httpSchema>;

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
