// The format of the fault rules, which make the sandbox fail on request, and their validation.
import { z } from 'zod';
import {
  aBoolean,
  anInteger,
  aNonEmptyString,
  aNumber,
  aString,
  listOf,
  objectOf,
  oneOf,
  parseAs,
  recordOf,
} from './check.ts';

const status = anInteger(200, 599);
const ms = aNumber(0, 3_600_000);
const fraction = aNumber(0, 1);

function action<T extends string, F extends z.ZodRawShape>(type: T, fields: F) {
  return objectOf({ type: z.literal(type), ...fields });
}

/**
 * What a fault does. "No effect": the request is not carried out. Otherwise it is carried out, and only its
 * response is changed.
 */
const ACTIONS = [
  /** The response is delayed. Later rules may act too. */
  action('latency', { ms }),
  /** No effect: a response with this status (default body `{detail}`). */
  action('status', {
    status,
    body: z.unknown().exactOptional(),
    headers: recordOf(aString).exactOptional(),
  }),
  /** No effect: the connection breaks. */
  action('drop-before-effect', {}),
  /** The request takes effect, then the connection breaks. */
  action('drop-after-effect', {}),
  /** The request takes effect, and the response is an error. */
  action('effect-then-status', { status }),
  /** The connection breaks at once, and the request takes effect `ms` later. */
  action('delay-effect', { ms }),
  /** Only this fraction of the body is sent, then the connection breaks. `silent`: the body looks complete. */
  action('cut-body', { fraction, silent: aBoolean.exactOptional() }),
  /** Lists: `[]`. */
  action('empty-list', {}),
  /** Lists: only the first part of the objects. */
  action('partial-list', { fraction }),
  /** Lists: every object is listed twice. */
  action('repeat-ids', {}),
  /** No effect: the HTML page of a proxy (default status 200). */
  action('html', { status: status.exactOptional() }),
  /** The body ends in a syntax error. */
  action('invalid-json', {}),
  /** Valid JSON of another type; with `field`, only that field of each object is a number. */
  action('wrong-type', { field: aNonEmptyString.exactOptional() }),
  /** Lists and creates: every object has this `accountId`. */
  action('wrong-account-id', { id: aNonEmptyString }),
  /** White space fills the body up to this size (after decompression). */
  action('huge-body', { bytes: anInteger(1, 2 ** 31) }),
  /** The body arrives slowly. */
  action('drip', { bytesPerSecond: aNumber(0.1) }),
  /** No effect: a redirect (default status 307). */
  action('redirect', { to: aNonEmptyString, status: oneOf(301, 302, 303, 307, 308).exactOptional() }),
  /** No effect: 429, with `Retry-After` in seconds or as a date; a string is sent unchanged. */
  action('rate-limit', {
    retryAfter: z.union([aString, aNumber(0)]).exactOptional(),
    format: oneOf('seconds', 'date').exactOptional(),
  }),
  /** No effect: an error whose body repeats the Authorization header (default status 400). */
  action('echo-token', { status: status.exactOptional() }),
  /** Creates: the response lacks `_id`. */
  action('no-id', {}),
  /** Creates: the entry is stored under another name; `{name}` is replaced by the requested name. */
  action('rename', { to: aNonEmptyString }),
] as const;

const TYPES = ACTIONS.map((each) => each.unwrap().shape.type.value).join(', ');

const actionSchema = z.discriminatedUnion('type', ACTIONS, {
  error: ({ code }) =>
    code === 'invalid_union'
      ? `should be one of ${TYPES}`
      : `should be an object whose "type" is one of ${TYPES}`,
});
export type FaultAction = z.output<typeof actionSchema>;

const pattern = aNonEmptyString.superRefine((text, context) => {
  try {
    new RegExp(text);
  } catch {
    context.addIssue(`should be resource, skill, role or a valid regular expression, not ${text}`);
  }
});

/** Which requests a rule matches. All given properties must match. */
const match = objectOf({
  method: aNonEmptyString.exactOptional(),
  /** `resource`, `skill` or `role`, or a regular expression that is searched in the path (from `/api` on). */
  path: pattern.exactOptional(),
  /** The account's name. */
  account: aNonEmptyString.exactOptional(),
  /** The name in the body of a create, or the name of the entry to delete. */
  name: aString.exactOptional(),
});

/**
 * One rule. The first rule that matches a request acts. It ignores its first `skip` matches, then acts with
 * `probability` (default 1) at each match, at most `times` (default 1) times.
 */
const rule = objectOf({
  match: match.exactOptional(),
  times: z.union([z.literal('always'), anInteger(0)]).exactOptional(),
  skip: anInteger(0).exactOptional(),
  probability: aNumber(0, 1).exactOptional(),
  do: actionSchema,
});
export type Fault = z.output<typeof rule>;

/** The rules. Throws a `SandboxError` that names every problem and its path. */
export function parseFaults(value: unknown): readonly Fault[] {
  return parseAs(listOf(rule), value, 'faults');
}
