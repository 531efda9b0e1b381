// What a fault makes of an answer, and in which way it is sent.

import { type Answer, jsonAnswer, payloadOf, problem, retryAfter } from './answer.ts';
import { isRecord } from './check.ts';
import type { FaultVerdict } from './fault-rules.ts';

type Action = NonNullable<FaultVerdict['action']>;

/** How an answer travels. */
export type Transport =
  | { readonly type: 'whole' }
  | { readonly type: 'drop' }
  | { readonly type: 'cut'; readonly fraction: number; readonly silent: boolean }
  | { readonly type: 'drip'; readonly bytesPerSecond: number }
  | { readonly type: 'fill'; readonly bytes: number };

export interface Outcome {
  readonly answer: Answer;
  readonly transport: Transport;
}

/** What the faults may do to the world: ask the service now (perhaps under another name), or later. */
export interface Reach {
  perform(rename?: (name: string) => string): Answer;
  performLater(ms: number): void;
  readonly authorization: string;
  readonly nowMs: number;
}

const WHOLE: Transport = { type: 'whole' };
const DROPPED: Outcome = { answer: problem(500, 'dropped'), transport: { type: 'drop' } };

function rewritten(answer: Answer, change: (body: unknown) => unknown): Outcome {
  if (answer.status >= 300) return { answer, transport: WHOLE };
  const body: unknown = JSON.parse(answer.payload.bytes.toString('utf8'));
  return { answer: { ...answer, payload: payloadOf(JSON.stringify(change(body))) }, transport: WHOLE };
}

/** Changes each object of a list, or the one object. */
function eachObject(change: (object: Record<string, unknown>) => Record<string, unknown>) {
  return (body: unknown): unknown => {
    if (Array.isArray(body)) return body.map((each) => (isRecord(each) ? change(each) : each));
    return isRecord(body) ? change(body) : body;
  };
}

function ofList(change: (items: readonly unknown[]) => readonly unknown[]) {
  return (body: unknown): unknown => (Array.isArray(body) ? change(body) : body);
}

function wrongType(body: unknown): unknown {
  if (Array.isArray(body)) return { data: body };
  return isRecord(body) ? [body] : { message: body };
}

function withoutId({ _id, ...rest }: Record<string, unknown>): Record<string, unknown> {
  return _id === undefined ? {} : rest;
}

function statusAnswer(action: Extract<Action, { type: 'status' }>): Answer {
  const body = action.body ?? { detail: `Status ${action.status}` };
  const headers = action.headers ?? {};
  if (typeof body !== 'string') return jsonAnswer(action.status, body, { headers });
  return {
    status: action.status,
    payload: payloadOf(body),
    headers: { 'content-type': 'text/plain', ...headers },
    effect: false,
  };
}

function rateLimited(action: Extract<Action, { type: 'rate-limit' }>, nowMs: number): Answer {
  const { retryAfter: wait, format = 'seconds' } = action;
  if (wait === undefined) return problem(429, 'Too Many Requests');
  const value = typeof wait === 'string' ? wait : wait === 0 ? '0' : retryAfter(wait * 1000, format, nowMs);
  return problem(429, 'Too Many Requests', { 'retry-after': value });
}

function page(status: number): Answer {
  const html =
    '<!doctype html><html><head><title>Gateway</title></head><body><h1>Please wait</h1></body></html>';
  return {
    status,
    payload: payloadOf(html),
    headers: { 'content-type': 'text/html; charset=utf-8' },
    effect: false,
  };
}

function whole(answer: Answer): Outcome {
  return { answer, transport: WHOLE };
}

function brokenSyntax(answer: Answer): Answer {
  return { ...answer, payload: payloadOf(`${answer.payload.bytes.toString('utf8')},}`) };
}

function ofWrongType(answer: Answer, field: string | undefined): Outcome {
  return rewritten(answer, field === undefined ? wrongType : eachObject((each) => ({ ...each, [field]: 7 })));
}

/** Carries a request out under a fault (or none), and says what is sent and how. */
export function spoil(action: FaultVerdict['action'], reach: Reach): Outcome {
  if (action === null) return whole(reach.perform());
  switch (action.type) {
    // The service never sees the request.
    case 'status':
      return whole(statusAnswer(action));
    case 'html':
      return whole(page(action.status ?? 200));
    case 'redirect':
      return whole(problem(action.status ?? 307, 'Moved', { location: action.to }));
    case 'rate-limit':
      return whole(rateLimited(action, reach.nowMs));
    case 'echo-token':
      return whole(problem(action.status ?? 400, `Invalid header Authorization: ${reach.authorization}`));
    case 'drop-before-effect':
      return DROPPED;
    // It does what was asked, and nobody hears of it, or something else.
    case 'drop-after-effect':
      reach.perform();
      return DROPPED;
    case 'delay-effect':
      reach.performLater(action.ms);
      return DROPPED;
    case 'effect-then-status':
      reach.perform();
      return whole(problem(action.status, `Status ${action.status}`));
    case 'rename':
      return whole(reach.perform((name) => action.to.replaceAll('{name}', () => name)));
    // The answer suffers on its way.
    case 'cut-body':
      return {
        answer: reach.perform(),
        transport: { ...action, type: 'cut', silent: action.silent ?? false },
      };
    case 'drip':
      return { answer: reach.perform(), transport: action };
    case 'huge-body':
      return { answer: reach.perform(), transport: { type: 'fill', bytes: action.bytes } };
    // The answer is another one.
    case 'empty-list':
      return rewritten(
        reach.perform(),
        ofList(() => []),
      );
    case 'partial-list':
      return rewritten(
        reach.perform(),
        ofList((items) => items.slice(0, Math.floor(items.length * action.fraction))),
      );
    case 'repeat-ids':
      return rewritten(
        reach.perform(),
        ofList((items) => items.flatMap((item) => [item, item])),
      );
    case 'invalid-json':
      return whole(brokenSyntax(reach.perform()));
    case 'wrong-type':
      return ofWrongType(reach.perform(), action.field);
    case 'wrong-account-id':
      return rewritten(
        reach.perform(),
        eachObject((each) => ({ ...each, accountId: action.id })),
      );
    case 'no-id':
      return rewritten(reach.perform(), eachObject(withoutId));
  }
}
