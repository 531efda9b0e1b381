// The life of one request: read, identify, log, fault, limit, operate, answer.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Account } from './account.ts';
import { type Answer, problem, retryAfter } from './answer.ts';
import { type CreateBody, readCreateBody } from './create-body.ts';
import type { FaultBook } from './fault-rules.ts';
import type { ListWriter } from './lists.ts';
import type { Region } from './model.ts';
import { operate } from './operations.ts';
import type { RateLimiter } from './rate-limiter.ts';
import type { RequestLog } from './request-log.ts';
import { findRoute, type Route, splitTarget } from './route.ts';
import { send } from './send.ts';
import type { SandboxSettings } from './settings.ts';
import { type Reach, spoil } from './apply-fault.ts';
import type { Timers } from './timers.ts';
import type { World } from './world.ts';

const MOST_BODY_BYTES = 1024 * 1024;

/** Everything that a running service consists of. */
export interface Service {
  readonly world: World;
  readonly faults: FaultBook;
  readonly limiter: RateLimiter;
  readonly lists: ListWriter;
  readonly log: RequestLog;
  readonly timers: Timers;
  settings: SandboxSettings;
}

/** The body, or null when it is larger than anything that the service takes (the rest is read and forgotten). */
async function readBody(incoming: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= MOST_BODY_BYTES) chunks.push(chunk);
  }
  return size <= MOST_BODY_BYTES ? Buffer.concat(chunks) : null;
}

/** Section 5: the bearer token decides the account, and is known in the account's region only. */
function identify(world: World, authorization: string, region: Region): Account | null {
  const token = /^bearer +(\S+) *$/i.exec(authorization)?.[1];
  const account = token === undefined ? undefined : world.withToken(token);
  return account?.identity.region === region ? account : null;
}

function subjectName(route: Route, account: Account | null, body: CreateBody | null): string | null {
  if (route.type === 'delete') return account?.find(route.id)?.entry.name ?? null;
  return body !== null && 'name' in body ? body.name : null;
}

function limited(service: Service, account: Account | null, nowMs: number): Answer | null {
  const limit = service.settings.rateLimit;
  if (limit === null) return null;
  const waitMs = service.limiter.take(account?.identity.name ?? '', limit, nowMs);
  if (waitMs === 0) return null;
  const headers: Record<string, string> =
    limit.retryAfter === 'none' ? {} : { 'retry-after': retryAfter(waitMs, limit.retryAfter, nowMs) };
  return problem(429, 'Too Many Requests', headers);
}

interface Received {
  readonly route: Route;
  readonly account: Account | null;
  readonly hasToken: boolean;
  readonly body: CreateBody | null;
  readonly tooLarge: boolean;
}

function performer(service: Service, received: Received, noteEffect: () => void): Reach['perform'] {
  return (rename) => {
    const nowMs = Date.now();
    const { settings, lists } = service;
    const refused = limited(service, received.account, nowMs);
    if (refused !== null) return refused;
    if (received.tooLarge && received.account !== null) return problem(413, 'Content Too Large');
    const { body } = received;
    const asked =
      body !== null && 'name' in body && rename !== undefined ? { name: rename(body.name) } : body;
    const answer = operate({ ...received, body: asked }, lists, settings, nowMs);
    if (answer.effect) noteEffect();
    return answer;
  };
}

/** Serves one request of the public API. Never throws for what a client sends or for a client that goes away. */
export async function serve(
  service: Service,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const method = incoming.method ?? 'GET';
  const { region, path } = splitTarget(incoming.url ?? '/');
  const authorization = incoming.headers.authorization ?? '';
  const route = findRoute(method, path);
  const account = identify(service.world, authorization, region);
  const bytes = await readBody(incoming);
  const body =
    route.type === 'create'
      ? readCreateBody(bytes ?? Buffer.alloc(0), incoming.headers['content-type'], service.settings)
      : null;
  const name = subjectName(route, account, body);
  const accountName = account?.identity.name ?? null;
  const logged = service.log.open(
    { method, path: withoutToken(path, account), region, account: accountName, name },
    Date.now(),
  );
  const subject = route.type === 'unknown' ? null : route.of;
  const verdict = service.faults.judge({ method, path, subject, account: accountName, name });
  logged.fault = verdict.action?.type ?? null;
  const perform = performer(
    service,
    { route, account, hasToken: authorization !== '', body, tooLarge: bytes === null },
    () => {
      logged.effect = true;
    },
  );
  const performLater = (ms: number): void => service.timers.later(ms, () => void perform());
  const { answer, transport } = spoil(verdict.action, {
    perform,
    performLater,
    authorization,
    nowMs: Date.now(),
  });
  await service.timers.sleep(service.settings.latencyMs + verdict.latencyMs);
  logged.status = transport.type === 'drop' ? null : answer.status;
  service.log.done(logged);
  await send(answer, transport, {
    incoming,
    outgoing,
    compress: service.settings.compress,
    timers: service.timers,
  });
}

/** A token in a path is somebody's mistake, and still a token. */
function withoutToken(path: string, account: Account | null): string {
  return account === null ? path : path.replaceAll(account.identity.token, '[token]');
}
