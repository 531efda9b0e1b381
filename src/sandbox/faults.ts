// The format of the fault rules, which make the sandbox fail on request, and their validation.

import {
  aBoolean,
  aNumber,
  aString,
  aNonEmptyString,
  anInteger,
  anything,
  type Check,
  Issues,
  isRecord,
  listOf,
  objectOf,
  oneOf,
  recordOf,
} from './check.ts';

/**
 * What a fault does. "No effect": the request is not carried out. Otherwise it is carried out, and only its
 * response is changed.
 */
export type FaultAction =
  /** The response is delayed. Later rules may act too. */
  | { readonly type: 'latency'; readonly ms: number }
  /** No effect: a response with this status (default body `{detail}`). */
  | {
      readonly type: 'status';
      readonly status: number;
      readonly body?: unknown;
      readonly headers?: Readonly<Record<string, string>>;
    }
  /** No effect: the connection breaks. */
  | { readonly type: 'drop-before-effect' }
  /** The request takes effect, then the connection breaks. */
  | { readonly type: 'drop-after-effect' }
  /** The request takes effect, and the response is an error. */
  | { readonly type: 'effect-then-status'; readonly status: number }
  /** The connection breaks at once, and the request takes effect `ms` later. */
  | { readonly type: 'delay-effect'; readonly ms: number }
  /** Only this fraction of the body is sent, then the connection breaks. `silent`: the body looks complete. */
  | { readonly type: 'cut-body'; readonly fraction: number; readonly silent?: boolean }
  /** Lists: `[]`. */
  | { readonly type: 'empty-list' }
  /** Lists: only the first part of the objects. */
  | { readonly type: 'partial-list'; readonly fraction: number }
  /** Lists: every object is listed twice. */
  | { readonly type: 'repeat-ids' }
  /** No effect: the HTML page of a proxy (default status 200). */
  | { readonly type: 'html'; readonly status?: number }
  /** The body ends in a syntax error. */
  | { readonly type: 'invalid-json' }
  /** Valid JSON of another type; with `field`, only that field of each object is a number. */
  | { readonly type: 'wrong-type'; readonly field?: string }
  /** Lists and creates: every object has this `accountId`. */
  | { readonly type: 'wrong-account-id'; readonly id: string }
  /** White space fills the body up to this size (after decompression). */
  | { readonly type: 'huge-body'; readonly bytes: number }
  /** The body arrives slowly. */
  | { readonly type: 'drip'; readonly bytesPerSecond: number }
  /** No effect: a redirect (default status 307). */
  | { readonly type: 'redirect'; readonly to: string; readonly status?: number }
  /** No effect: 429, with `Retry-After` in seconds or as a date; a string is sent unchanged. */
  | {
      readonly type: 'rate-limit';
      readonly retryAfter?: number | string;
      readonly format?: 'seconds' | 'date';
    }
  /** No effect: an error whose body repeats the Authorization header (default status 400). */
  | { readonly type: 'echo-token'; readonly status?: number }
  /** Creates: the response lacks `_id`. */
  | { readonly type: 'no-id' }
  /** Creates: the entry is stored under another name; `{name}` is replaced by the requested name. */
  | { readonly type: 'rename'; readonly to: string };

/** Which requests a rule matches. All given properties must match. */
export interface FaultMatch {
  readonly method?: string;
  /** `resource`, `skill` or `role`, or a regular expression that is searched in the path (from `/api` on). */
  readonly path?: string;
  /** The account's name. */
  readonly account?: string;
  /** The name in the body of a create, or the name of the entry to delete. */
  readonly name?: string;
}

/**
 * One rule. The first rule that matches a request acts. It ignores its first `skip` matches, then acts with
 * `probability` (default 1) at each match, at most `times` (default 1) times.
 */
export interface Fault {
  readonly match?: FaultMatch;
  readonly times?: number | 'always';
  readonly skip?: number;
  readonly probability?: number;
  readonly do: FaultAction;
}

const status = anInteger(200, 599);
const ms = aNumber(0, 3_600_000);
const fraction = aNumber(0, 1);

interface ActionShape {
  readonly fields: Readonly<Record<string, Check>>;
  readonly required?: readonly string[];
}

const retryAfter: Check = (value, path, issues) =>
  (typeof value === 'string' ? aString : aNumber(0))(value, path, issues);

const ACTIONS: Readonly<Record<FaultAction['type'], ActionShape>> = {
  latency: { fields: { ms }, required: ['ms'] },
  status: { fields: { status, body: anything, headers: recordOf(aString) }, required: ['status'] },
  'drop-before-effect': { fields: {} },
  'drop-after-effect': { fields: {} },
  'effect-then-status': { fields: { status }, required: ['status'] },
  'delay-effect': { fields: { ms }, required: ['ms'] },
  'cut-body': { fields: { fraction, silent: aBoolean }, required: ['fraction'] },
  'empty-list': { fields: {} },
  'partial-list': { fields: { fraction }, required: ['fraction'] },
  'repeat-ids': { fields: {} },
  html: { fields: { status } },
  'invalid-json': { fields: {} },
  'wrong-type': { fields: { field: aNonEmptyString } },
  'wrong-account-id': { fields: { id: aNonEmptyString }, required: ['id'] },
  'huge-body': { fields: { bytes: anInteger(1, 2 ** 31) }, required: ['bytes'] },
  drip: { fields: { bytesPerSecond: aNumber(0.1) }, required: ['bytesPerSecond'] },
  redirect: { fields: { to: aNonEmptyString, status: oneOf(301, 302, 303, 307, 308) }, required: ['to'] },
  'rate-limit': { fields: { retryAfter, format: oneOf('seconds', 'date') } },
  'echo-token': { fields: { status } },
  'no-id': { fields: {} },
  rename: { fields: { to: aNonEmptyString }, required: ['to'] },
};

const action: Check = (value, path, issues) => {
  const type = isRecord(value) ? value['type'] : undefined;
  const shape =
    typeof type === 'string' && Object.hasOwn(ACTIONS, type) ? ACTIONS[type as FaultAction['type']] : null;
  if (shape === null) {
    return issues.add(path, `should be an object whose "type" is one of ${Object.keys(ACTIONS).join(', ')}`);
  }
  objectOf({ type: anything, ...shape.fields }, shape.required)(value, path, issues);
};

const pattern: Check = (value, path, issues) => {
  aNonEmptyString(value, path, issues);
  try {
    new RegExp(String(value));
  } catch {
    issues.add(path, `should be resource, skill, role or a valid regular expression, not ${String(value)}`);
  }
};

const times: Check = (value, path, issues) => {
  if (value !== 'always') anInteger(0)(value, path, issues);
};

const rule = objectOf(
  {
    match: objectOf({ method: aNonEmptyString, path: pattern, account: aNonEmptyString, name: aString }),
    times,
    skip: anInteger(0),
    probability: aNumber(0, 1),
    do: action,
  },
  ['do'],
);

/** The rules. Throws a `SandboxError` that names every problem and its path. */
export function parseFaults(value: unknown, path = 'faults'): readonly Fault[] {
  const issues = new Issues();
  listOf(rule)(value, path, issues);
  issues.throwIfAny();
  return structuredClone(value) as readonly Fault[]; // every rule was checked above
}
