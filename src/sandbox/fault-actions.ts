// What a fault can do to a request: one table of the actions, with their fields.
import { z } from 'zod';
import { anInteger, aNumber, aText, isRecord } from './check.ts';
import { errorResponse, jsonResponse, retryAfter, type ServiceResponse } from './send.ts';

/** What an action may do with the request: carry it out, now (perhaps with another name) or later. */
export interface FaultEffects {
  readonly perform: (rename?: (name: string) => string) => ServiceResponse;
  readonly performLater: (ms: number) => void;
  readonly authorization: string;
}

/** An action. `only`: the methods that it is for; it ignores requests with others. */
function action<T extends string, F extends z.ZodRawShape>(
  type: T,
  fields: F,
  act: (given: z.output<z.ZodObject<F>>, effects: FaultEffects) => ServiceResponse,
  only?: readonly string[],
) {
  return { type, schema: z.strictObject({ type: z.literal(type), ...fields }), act, only };
}

const status = anInteger(200, 599);
const ms = aNumber(0, 3_600_000);
const fraction = aNumber(0, 1);
const DROPPED: ServiceResponse = { ...errorResponse(500, 'dropped'), delivery: { type: 'drop' } };

/** Changes the body of a successful response. */
function rewritten(response: ServiceResponse, change: (body: unknown) => unknown): ServiceResponse {
  if (response.status >= 300) return response;
  return { ...response, body: JSON.stringify(change(JSON.parse(response.body))) };
}

/** Changes each object of a list, or the single object. */
function eachObject(change: (object: Record<string, unknown>) => Record<string, unknown>) {
  const changed = (each: unknown): unknown => (isRecord(each) ? change(each) : each);
  return (body: unknown): unknown => (Array.isArray(body) ? body.map(changed) : changed(body));
}

function changedList(
  { perform }: FaultEffects,
  change: (items: readonly unknown[]) => readonly unknown[],
): ServiceResponse {
  return rewritten(perform(), (body) => (Array.isArray(body) ? change(body) : body));
}

function toWrongType(body: unknown): unknown {
  if (Array.isArray(body)) return { data: body };
  return isRecord(body) ? [body] : { message: body };
}

function withoutId({ _id, ...rest }: Record<string, unknown>): Record<string, unknown> {
  return _id === undefined ? {} : rest;
}

const PAGE =
  '<!doctype html><html><head><title>Gateway</title></head><body><h1>Please wait</h1></body></html>';

/** What a fault does. "No effect": the request is not carried out. Otherwise it is, and only its response is changed. */
const ACTIONS = [
  /** The response is delayed. Later rules may act too. */
  action('latency', { ms }, (_, { perform }) => perform()),
  /** No effect: a response with this status (default body `{detail}`). */
  action(
    'status',
    {
      status,
      body: z.unknown().exactOptional(),
      headers: z.record(z.string(), z.string()).exactOptional(),
    },
    ({ status, body = { detail: `Status ${status}` }, headers = {} }) =>
      typeof body === 'string'
        ? { status, body, headers: { 'content-type': 'text/plain', ...headers }, effect: false }
        : jsonResponse(status, body, { headers }),
  ),
  /** No effect: the connection breaks. */
  action('drop-before-effect', {}, () => DROPPED),
  /** The request takes effect, then the connection breaks. */
  action('drop-after-effect', {}, (_, { perform }) => {
    perform();
    return DROPPED;
  }),
  /** The request takes effect, and the response is an error. */
  action('effect-then-status', { status }, ({ status }, { perform }) => {
    perform();
    return errorResponse(status, `Status ${status}`);
  }),
  /** The connection breaks at once, and the request takes effect `ms` later. */
  action('delay-effect', { ms }, ({ ms }, { performLater }) => {
    performLater(ms);
    return DROPPED;
  }),
  /** Only this fraction of the body is sent, then the connection breaks. `silent`: the body looks complete. */
  action(
    'cut-body',
    { fraction, silent: z.boolean().exactOptional() },
    ({ fraction, silent = false }, { perform }) => ({
      ...perform(),
      delivery: { type: 'cut', fraction, silent },
    }),
  ),
  /** Lists: `[]`. */
  action('empty-list', {}, (_, effects) => changedList(effects, () => []), ['GET']),
  /** Lists: only the first part of the objects. */
  action(
    'partial-list',
    { fraction },
    ({ fraction }, effects) =>
      changedList(effects, (items) => items.slice(0, Math.floor(items.length * fraction))),
    ['GET'],
  ),
  /** Lists: every object is listed twice. */
  action(
    'repeat-ids',
    {},
    (_, effects) => changedList(effects, (items) => items.flatMap((item) => [item, item])),
    ['GET'],
  ),
  /** No effect: the HTML page of a proxy (default status 200). */
  action('html', { status: status.exactOptional() }, ({ status = 200 }) => ({
    status,
    body: PAGE,
    headers: { 'content-type': 'text/html; charset=utf-8' },
    effect: false,
  })),
  /** The body ends in a syntax error. */
  action('invalid-json', {}, (_, { perform }) => {
    const response = perform();
    return { ...response, body: `${response.body},}` };
  }),
  /** Valid JSON of another type; with `field`, only that field of each object is a number. */
  action('wrong-type', { field: aText.exactOptional() }, ({ field }, { perform }) =>
    rewritten(perform(), field === undefined ? toWrongType : eachObject((each) => ({ ...each, [field]: 7 }))),
  ),
  /** Lists and creates: every object has this `accountId`. */
  action(
    'wrong-account-id',
    { id: aText },
    ({ id }, { perform }) =>
      rewritten(
        perform(),
        eachObject((each) => ({ ...each, accountId: id })),
      ),
    ['GET', 'POST'],
  ),
  /** White space fills the body up to this size (after decompression). */
  action('huge-body', { bytes: anInteger(1, 2 ** 31) }, ({ bytes }, { perform }) => ({
    ...perform(),
    delivery: { type: 'fill', bytes },
  })),
  /** The body arrives slowly. */
  action('drip', { bytesPerSecond: aNumber(0.1) }, ({ bytesPerSecond }, { perform }) => ({
    ...perform(),
    delivery: { type: 'drip', bytesPerSecond },
  })),
  /** No effect: a redirect (default status 307). */
  action(
    'redirect',
    { to: aText, status: z.literal([301, 302, 303, 307, 308]).exactOptional() },
    ({ to, status = 307 }) => errorResponse(status, 'Moved', { location: to }),
  ),
  /** No effect: 429, with `Retry-After` in seconds or as a date; a string is sent unchanged. */
  action(
    'rate-limit',
    {
      retryAfter: z.union([z.string(), aNumber(0)]).exactOptional(),
      format: z.literal(['seconds', 'date']).exactOptional(),
    },
    ({ retryAfter: wait, format = 'seconds' }) => {
      const isGiven = typeof wait === 'string' || wait === 0;
      const value = wait === undefined || isGiven ? String(wait) : retryAfter(wait * 1000, format);
      return errorResponse(429, 'Too Many Requests', wait === undefined ? {} : { 'retry-after': value });
    },
  ),
  /** No effect: an error whose body repeats the Authorization header (default status 400). */
  action('echo-token', { status: status.exactOptional() }, ({ status = 400 }, { authorization }) =>
    errorResponse(status, `Invalid header Authorization: ${authorization}`),
  ),
  /** Creates: the response lacks `_id`. */
  action('no-id', {}, (_, { perform }) => rewritten(perform(), eachObject(withoutId)), ['POST']),
  /** Creates store, and lists show, another name: `{name}` is the requested or the real one. */
  action(
    'rename',
    { to: aText },
    ({ to }, { perform }) => {
      const renamed = (name: string): string => to.replaceAll('{name}', () => name);
      const shown = eachObject((each) =>
        typeof each['name'] === 'string' ? { ...each, name: renamed(each['name']) } : each,
      );
      return rewritten(perform(renamed), (body) => (Array.isArray(body) ? shown(body) : body));
    },
    ['GET', 'POST'],
  ),
] as const;

type Schemas<T extends readonly { readonly schema: unknown }[]> = {
  -readonly [K in keyof T]: T[K]['schema'];
};
// `map` forgets that a tuple stays a tuple.
const schemas = ACTIONS.map((each) => each.schema) as unknown as Schemas<typeof ACTIONS>;
const TYPES = ACTIONS.map((each) => each.type).join(', ');

export const actionSchema = z.discriminatedUnion('type', schemas, {
  error: ({ code }) =>
    code === 'invalid_union'
      ? `should be one of ${TYPES}`
      : `should be an object whose "type" is one of ${TYPES}`,
});
export type FaultAction = z.output<typeof actionSchema>;

export function rowOf({ type }: FaultAction): (typeof ACTIONS)[number] {
  const row = ACTIONS.find((each) => each.type === type);
  if (row === undefined) throw new Error(`no action ${type}`);
  return row;
}
