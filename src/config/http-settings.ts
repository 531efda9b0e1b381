// The `http` part of rolecall.yaml: what only a look at several of its keys shows, and the settings that it becomes.
import path from 'node:path';
import type { ConfigIssue } from '../core/errors.ts';
import { isLoopback } from '../core/loopback.ts';
import type { HttpSettings } from '../core/settings.ts';
import { type HttpFile, httpSchema } from './http-schema.ts';
import { type NodePath, locate, spotOf } from './node-lookup.ts';
import { absoluteRef, refKey } from './secret-refs.ts';
import { type YamlFile, quoted } from './yaml-file.ts';

type Raw = Readonly<Record<string, unknown>>;

/** The name under which `http.token` acts. */
const FIRST_TOKEN = 'http';

/** Problems of `http` that its schema cannot see; `raw` is that part as it was read. */
export function httpIssues(file: YamlFile, raw: Raw): ConfigIssue[] {
  return [...listenIssues(file, raw), ...tokenIssues(file, raw)];
}

function listenIssues(file: YamlFile, raw: Raw): ConfigIssue[] {
  const listen = httpSchema.shape.listen.safeParse(raw['listen']).data;
  if (listen === undefined || isLoopback(listen.host)) return [];
  const place = spotOf(locate(file, ['http', 'listen']));
  const hasToken = Object.hasOwn(raw, 'token') || (Array.isArray(raw['tokens']) && raw['tokens'].length > 0);
  if (!hasToken) {
    const message =
      'listening beyond this machine needs `http.token` or `http.tokens`; add one, or listen on 127.0.0.1';
    return [file.issue(place, message)];
  }
  if (Object.hasOwn(raw, 'tls')) return [];
  const message =
    'without `http.tls`, tokens, sessions and every report of the HTTP interface travel in the clear; set `http.tls`, or put a proxy with TLS in front';
  return [file.issue(place, message, 'warning')];
}

/** Two tokens of one name could not be told apart in the log; one token of two names would have two roles. */
function tokenIssues(file: YamlFile, raw: Raw): ConfigIssue[] {
  const { token, tokens } = httpSchema.shape;
  const first = token.safeParse(raw['token']).data;
  const names = new Set(first === undefined ? [] : [FIRST_TOKEN]);
  const references = new Map(first === undefined ? [] : [[refKey(first), 'http.token']]);
  const issues: ConfigIssue[] = [];
  const report = (at: NodePath, message: string): void => {
    issues.push(file.issue(spotOf(locate(file, ['http', 'tokens', ...at])), message));
  };
  for (const [index, item] of (Array.isArray(raw['tokens']) ? raw['tokens'] : []).entries()) {
    const read = tokens.unwrap().element.safeParse(item).data;
    if (read === undefined) continue;
    if (names.has(read.name)) {
      const taken = read.name === FIRST_TOKEN && first !== undefined ? ', the name of `http.token`' : '';
      report(
        [index, 'name'],
        `duplicate token name ${quoted(read.name)}${taken}; give each token its own name`,
      );
    }
    names.add(read.name);
    const other = references.get(refKey(read.token));
    if (other !== undefined) {
      report([index, 'token'], `${other} is the same token; give each name its own token`);
    }
    references.set(refKey(read.token), `the token of ${quoted(read.name)}`);
  }
  return issues;
}

/** The settings, with absolute paths. */
export function httpSettings(
  { listen, token, tokens, trustedProxies, tls }: HttpFile,
  folder: string,
): HttpSettings {
  return {
    ...listen,
    ...(token === undefined ? {} : { token: absoluteRef(token, folder) }),
    tokens: tokens.map((each) => ({ ...each, token: absoluteRef(each.token, folder) })),
    trustedProxies,
    ...(tls === undefined
      ? {}
      : { tls: { cert: path.resolve(folder, tls.cert), key: path.resolve(folder, tls.key) } }),
  };
}
