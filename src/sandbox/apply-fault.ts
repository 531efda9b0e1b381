// Applies a fault to a request: which response is sent, how it is sent, and whether the request takes effect.

import {
  type ServiceResponse,
  jsonResponse,
  payloadOf,
  errorResponse,
  retryAfter,
  type Delivery,
} from './send.ts';
import { isRecord } from './check.ts';
import type { FaultVerdict } from './faults.ts';

type Action = NonNullable<FaultVerdict['action']>;

export interface Outcome {
  readonly response: ServiceResponse;
  readonly delivery: Delivery;
}

/** What a fault may use: carry out the request now (perhaps with another name) or later. */
export interface FaultEffects {
  perform(rename?: (name: string) => string): ServiceResponse;
  performLater(ms: number): void;
  readonly authorization: string;
  readonly nowMs: number;
}

const COMPLETE: Delivery = { type: 'complete' };
const DROPPED: Outcome = { response: errorResponse(500, 'dropped'), delivery: { type: 'drop' } };

function rewritten(response: ServiceResponse, change: (body: unknown) => unknown): Outcome {
  if (response.status >= 300) return { response, delivery: COMPLETE };
  const body: unknown = JSON.parse(response.payload.bytes.toString('utf8'));
  return { response: { ...response, payload: payloadOf(JSON.stringify(change(body))) }, delivery: COMPLETE };
}

/** Changes each object of a list, or the single object. */
function eachObject(change: (object: Record<string, unknown>) => Record<string, unknown>) {
  return (body: unknown): unknown => {
    if (Array.isArray(body)) return body.map((each) => (isRecord(each) ? change(each) : each));
    return isRecord(body) ? change(body) : body;
  };
}

function changeList(change: (items: readonly unknown[]) => readonly unknown[]) {
  return (body: unknown): unknown => (Array.isArray(body) ? change(body) : body);
}

function toWrongType(body: unknown): unknown {
  if (Array.isArray(body)) return { data: body };
  return isRecord(body) ? [body] : { message: body };
}

function withoutId({ _id, ...rest }: Record<string, unknown>): Record<string, unknown> {
  return _id === undefined ? {} : rest;
}

function statusResponse(action: Extract<Action, { type: 'status' }>): ServiceResponse {
  const body = action.body ?? { detail: `Status ${action.status}` };
  const headers = action.headers ?? {};
  if (typeof body !== 'string') return jsonResponse(action.status, body, { headers });
  return {
    status: action.status,
    payload: payloadOf(body),
    headers: { 'content-type': 'text/plain', ...headers },
    effect: false,
  };
}

function rateLimited(action: Extract<Action, { type: 'rate-limit' }>, nowMs: number): ServiceResponse {
  const { retryAfter: wait, format = 'seconds' } = action;
  if (wait === undefined) return errorResponse(429, 'Too Many Requests');
  const value = typeof wait === 'string' ? wait : wait === 0 ? '0' : retryAfter(wait * 1000, format, nowMs);
  return errorResponse(429, 'Too Many Requests', { 'retry-after': value });
}

function htmlResponse(status: number): ServiceResponse {
  const html =
    '<!doctype html><html><head><title>Gateway</title></head><body><h1>Please wait</h1></body></html>';
  return {
    status,
    payload: payloadOf(html),
    headers: { 'content-type': 'text/html; charset=utf-8' },
    effect: false,
  };
}

function complete(response: ServiceResponse): Outcome {
  return { response, delivery: COMPLETE };
}

function withSyntaxError(response: ServiceResponse): ServiceResponse {
  return { ...response, payload: payloadOf(`${response.payload.bytes.toString('utf8')},}`) };
}

function withWrongType(response: ServiceResponse, field: string | undefined): Outcome {
  return rewritten(
    response,
    field === undefined ? toWrongType : eachObject((each) => ({ ...each, [field]: 7 })),
  );
}

/** Carries out a request under a fault, or without one, and returns the response and how to send it. */
export function applyFault(action: FaultVerdict['action'], effects: FaultEffects): Outcome {
  if (action === null) return complete(effects.perform());
  switch (action.type) {
    // The request has no effect.
    case 'status':
      return complete(statusResponse(action));
    case 'html':
      return complete(htmlResponse(action.status ?? 200));
    case 'redirect':
      return complete(errorResponse(action.status ?? 307, 'Moved', { location: action.to }));
    case 'rate-limit':
      return complete(rateLimited(action, effects.nowMs));
    case 'echo-token':
      return complete(
        errorResponse(action.status ?? 400, `Invalid header Authorization: ${effects.authorization}`),
      );
    case 'drop-before-effect':
      return DROPPED;
    // The request takes effect. The client does not get the response of the service.
    case 'drop-after-effect':
      effects.perform();
      return DROPPED;
    case 'delay-effect':
      effects.performLater(action.ms);
      return DROPPED;
    case 'effect-then-status':
      effects.perform();
      return complete(errorResponse(action.status, `Status ${action.status}`));
    case 'rename': {
      const renamed = (name: string): string => action.to.replaceAll('{name}', () => name);
      const shown = eachObject((each) =>
        typeof each['name'] === 'string' ? { ...each, name: renamed(each['name']) } : each,
      );
      return rewritten(effects.perform(renamed), (body) => (Array.isArray(body) ? shown(body) : body));
    }
    // The request takes effect. The response is damaged or delayed on the way.
    case 'cut-body':
      return {
        response: effects.perform(),
        delivery: { ...action, type: 'cut', silent: action.silent ?? false },
      };
    case 'drip':
      return { response: effects.perform(), delivery: action };
    case 'huge-body':
      return { response: effects.perform(), delivery: { type: 'fill', bytes: action.bytes } };
    // The request takes effect. The body of the response is changed.
    case 'empty-list':
      return rewritten(
        effects.perform(),
        changeList(() => []),
      );
    case 'partial-list':
      return rewritten(
        effects.perform(),
        changeList((items) => items.slice(0, Math.floor(items.length * action.fraction))),
      );
    case 'repeat-ids':
      return rewritten(
        effects.perform(),
        changeList((items) => items.flatMap((item) => [item, item])),
      );
    case 'invalid-json':
      return complete(withSyntaxError(effects.perform()));
    case 'wrong-type':
      return withWrongType(effects.perform(), action.field);
    case 'wrong-account-id':
      return rewritten(
        effects.perform(),
        eachObject((each) => ({ ...each, accountId: action.id })),
      );
    case 'no-id':
      return rewritten(effects.perform(), eachObject(withoutId));
  }
}
