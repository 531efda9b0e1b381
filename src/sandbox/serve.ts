// Serves one request of the API: find the operation, read, identify, log, apply faults, limit, operate, respond.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Account } from './account.ts';
import { type ServiceResponse, errorResponse, retryAfter, send } from './send.ts';
import {
  type CreateBody,
  readCreateBody,
  operate,
  findRoute,
  type Route,
  type ServiceRequest,
  splitTarget,
} from './operations.ts';
import type { Region } from './model.ts';
import { type FaultEffects, applyFault } from './apply-fault.ts';
import type { Accounts } from './accounts.ts';
import type { FaultRules } from './faults.ts';
import type { ListWriter } from './lists.ts';
import type { RequestLog } from './request-log.ts';
import type { SandboxSettings } from './settings.ts';
import type { RateLimiter, Timers } from './timing.ts';

/** The parts of a running service, which requests and controls share. */
export interface Service {
  readonly accounts: Accounts;
  readonly faults: FaultRules;
  readonly limiter: RateLimiter;
  readonly lists: ListWriter;
  readonly log: RequestLog;
  readonly timers: Timers;
  settings: SandboxSettings;
}

const MAX_BODY_BYTES = 1024 * 1024;

/** The body, or null if it is larger than 1 MiB. The rest is read all the same, so that the client gets a response. */
async function readBody(incoming: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= MAX_BODY_BYTES) chunks.push(chunk);
  }
  return size <= MAX_BODY_BYTES ? Buffer.concat(chunks) : null;
}

/** The account of the bearer token. A token is valid in the region of its account only. */
function identify(accounts: Accounts, authorization: string, region: Region): Account | null {
  const token = /^bearer +(\S+) *$/i.exec(authorization)?.[1];
  const account = token === undefined ? undefined : accounts.withToken(token);
  return account?.identity.region === region ? account : null;
}

function subjectName(route: Route, account: Account | null, body: CreateBody | null): string | null {
  if (route.type === 'delete') return account?.find(route.id)?.entry.name ?? null;
  return body !== null && 'name' in body ? body.name : null;
}

function limited(service: Service, account: Account | null, nowMs: number): ServiceResponse | null {
  const limit = service.settings.rateLimit;
  if (limit === null) return null;
  const waitMs = service.limiter.take(account?.identity.name ?? '', limit, nowMs);
  if (waitMs === 0) return null;
  const headers: Record<string, string> =
    limit.retryAfter === 'none' ? {} : { 'retry-after': retryAfter(waitMs, limit.retryAfter, nowMs) };
  return errorResponse(429, 'Too Many Requests', headers);
}

interface Received extends ServiceRequest {
  readonly tooLarge: boolean;
}

function performer(service: Service, received: Received, noteEffect: () => void): FaultEffects['perform'] {
  return (rename) => {
    const nowMs = Date.now();
    const { settings, lists } = service;
    const refused = limited(service, received.account, nowMs);
    if (refused !== null) return refused;
    if (received.tooLarge && received.account !== null) return errorResponse(413, 'Content Too Large');
    const { body } = received;
    const requested =
      body !== null && 'name' in body && rename !== undefined ? { name: rename(body.name) } : body;
    const response = operate({ ...received, body: requested }, lists, settings, nowMs);
    if (response.effect) noteEffect();
    return response;
  };
}

/** Serves one request of the API. Invalid requests and clients that disconnect cause no exception. */
export async function serve(
  service: Service,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const method = incoming.method ?? 'GET';
  const { region, path } = splitTarget(incoming.url ?? '/');
  const authorization = incoming.headers.authorization ?? '';
  const route = findRoute(method, path);
  const account = identify(service.accounts, authorization, region);
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
  const { response, delivery } = applyFault(verdict.action, {
    perform,
    performLater,
    authorization,
    nowMs: Date.now(),
  });
  await service.timers.sleep(service.settings.latencyMs + verdict.latencyMs);
  logged.status = delivery.type === 'drop' ? null : response.status;
  service.log.done(logged);
  await send(response, delivery, {
    incoming,
    outgoing,
    compress: service.settings.compress,
    timers: service.timers,
  });
}

/** A client may put its token into a path by mistake; the log must not contain it. */
function withoutToken(path: string, account: Account | null): string {
  return account === null ? path : path.replaceAll(account.identity.token, '[token]');
}
