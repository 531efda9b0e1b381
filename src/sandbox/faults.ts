// The trouble that can be asked for: a list of rules, checked, in a form that JSON can hold.

import {
  aBoolean,
  aNumber,
  aString,
  aText,
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
 * What a fault does. "No effect" means that the service never saw the request; else it did what was asked and
 * only its answer is spoilt.
 */
export type FaultAction =
  /** The answer comes later. Rules after it may still speak. */
  | { readonly type: 'latency'; readonly ms: number }
  /** No effect: an answer with this status (default body `{detail}`). */
  | {
      readonly type: 'status';
      readonly status: number;
      readonly body?: unknown;
      readonly headers?: Readonly<Record<string, string>>;
    }
  /** No effect: the connection breaks. */
  | { readonly type: 'drop-before-effect' }
  /** The effect happens and the connection breaks. */
  | { readonly type: 'drop-after-effect' }
  /** The effect happens and an error is answered. */
  | { readonly type: 'effect-then-status'; readonly status: number }
  /** The connection breaks at once and the effect comes `ms` later. */
  | { readonly type: 'delay-effect'; readonly ms: number }
  /** Only this part of the body is sent, then the connection breaks; `silent`: it looks like the whole answer. */
  | { readonly type: 'cut-body'; readonly fraction: number; readonly silent?: boolean }
  /** Lists: `[]`. */
  | { readonly type: 'empty-list' }
  /** Lists: only the first part of the objects. */
  | { readonly type: 'partial-list'; readonly fraction: number }
  /** Lists: every object stands twice. */
  | { readonly type: 'repeat-ids' }
  /** No effect: a proxy's page (status 200 unless told otherwise). */
  | { readonly type: 'html'; readonly status?: number }
  /** The body ends in a syntax error. */
  | { readonly type: 'invalid-json' }
  /** The right JSON of the wrong type; with `field`, only that field of each object is a number. */
  | { readonly type: 'wrong-type'; readonly field?: string }
  /** Lists and creates: every object carries this `accountId`. */
  | { readonly type: 'wrong-account-id'; readonly id: string }
  /** The body is filled up with white space to this size (after decompression). */
  | { readonly type: 'huge-body'; readonly bytes: number }
  /** The body arrives slowly. */
  | { readonly type: 'drip'; readonly bytesPerSecond: number }
  /** No effect: a redirect (307 unless told otherwise). */
  | { readonly type: 'redirect'; readonly to: string; readonly status?: number }
  /** No effect: 429, with `Retry-After` in seconds or as a date; a string is sent as it is. */
  | {
      readonly type: 'rate-limit';
      readonly retryAfter?: number | string;
      readonly format?: 'seconds' | 'date';
    }
  /** No effect: an error whose body repeats the Authorization header (status 400 unless told otherwise). */
  | { readonly type: 'echo-token'; readonly status?: number }
  /** Creates: the answer lacks `_id`. */
  | { readonly type: 'no-id' }
  /** Creates: the entry is stored under another name; `{name}` stands for the one asked for. */
  | { readonly type: 'rename'; readonly to: string };

/** Which requests a rule is about; all that is given must hold. */
export interface FaultMatch {
  readonly method?: string;
  /** `resource`, `skill` or `role`, or else a regular expression on the path (which starts at `/api`). */
  readonly path?: string;
  /** The account's name. */
  readonly account?: string;
  /** The name in the body of a create, or of the entry that a delete is about. */
  readonly name?: string;
}

/**
 * One rule. Of the rules that match a request the first acts. The first `skip` matches pass; then, with
 * `probability` (1), it acts, `times` (1) times in all.
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
  'wrong-type': { fields: { field: aText } },
  'wrong-account-id': { fields: { id: aText }, required: ['id'] },
  'huge-body': { fields: { bytes: anInteger(1, 2 ** 31) }, required: ['bytes'] },
  drip: { fields: { bytesPerSecond: aNumber(0.1) }, required: ['bytesPerSecond'] },
  redirect: { fields: { to: aText, status: oneOf(301, 302, 303, 307, 308) }, required: ['to'] },
  'rate-limit': { fields: { retryAfter, format: oneOf('seconds', 'date') } },
  'echo-token': { fields: { status } },
  'no-id': { fields: {} },
  rename: { fields: { to: aText }, required: ['to'] },
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
  aText(value, path, issues);
  try {
    new RegExp(String(value));
  } catch {
    issues.add(path, `is neither resource, skill or role nor a regular expression: ${String(value)}`);
  }
};

const times: Check = (value, path, issues) => {
  if (value !== 'always') anInteger(0)(value, path, issues);
};

const rule = objectOf(
  {
    match: objectOf({ method: aText, path: pattern, account: aText, name: aString }),
    times,
    skip: anInteger(0),
    probability: aNumber(0, 1),
    do: action,
  },
  ['do'],
);

/** The rules, or a `SandboxError` that names every problem with its place. */
export function parseFaults(value: unknown, path = 'faults'): readonly Fault[] {
  const issues = new Issues();
  listOf(rule)(value, path, issues);
  issues.throwIfAny();
  return structuredClone(value) as readonly Fault[]; // every rule was checked above
}
