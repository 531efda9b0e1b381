// The fault rules, which make the sandbox fail on request: their format, its validation, and which rule acts on a request.
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
import { type Random, seededRandom } from './random.ts';

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
  /** Creates store, and lists show, another name: `{name}` is the requested or the real one. */
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

/** The properties of a request that rules can match. */
export interface FaultSubject {
  readonly method: string;
  readonly path: string;
  readonly subject: 'resource' | 'skill' | 'role' | null;
  readonly account: string | null;
  readonly name: string | null;
}

/** The decision for one request: a delay, and at most one other action. */
export interface FaultVerdict {
  readonly latencyMs: number;
  readonly action: Exclude<FaultAction, { type: 'latency' }> | null;
}

interface RuleState {
  readonly fault: Fault;
  readonly path: RegExp | null;
  readonly random: Random;
  skipped: number;
  acted: number;
}

const SUBJECTS = new Set(['resource', 'skill', 'role']);
const ONLY_FOR: Partial<Record<FaultAction['type'], readonly string[]>> = {
  'empty-list': ['GET'],
  'partial-list': ['GET'],
  'repeat-ids': ['GET'],
  'wrong-account-id': ['GET', 'POST'],
  'no-id': ['POST'],
  rename: ['GET', 'POST'],
};

function matches(rule: RuleState, request: FaultSubject): boolean {
  const { match = {}, do: action } = rule.fault;
  if (ONLY_FOR[action.type]?.includes(request.method) === false) return false;
  if (match.method !== undefined && match.method.toUpperCase() !== request.method) return false;
  if (match.account !== undefined && match.account !== request.account) return false;
  if (match.name !== undefined && match.name !== request.name) return false;
  if (match.path === undefined) return true;
  return rule.path === null ? match.path === request.subject : rule.path.test(request.path);
}

function acts(rule: RuleState): boolean {
  const { times = 1, skip = 0, probability = 1 } = rule.fault;
  if (times !== 'always' && rule.acted >= times) return false;
  if (rule.skipped < skip) {
    rule.skipped += 1;
    return false;
  }
  if (probability < 1 && rule.random() >= probability) return false;
  rule.acted += 1;
  return true;
}

/** The rules with their counts. Replacing the rules resets all counts. */
export class FaultRules {
  private rules: readonly RuleState[] = [];

  replace(faults: readonly Fault[], randomSeed: number): void {
    this.rules = faults.map((fault, index) => {
      const path = fault.match?.path;
      const isPattern = path !== undefined && !SUBJECTS.has(path);
      const random = seededRandom(randomSeed * 7919 + index);
      return { fault, path: isPattern ? new RegExp(path) : null, random, skipped: 0, acted: 0 };
    });
  }

  /** The rules as they were given, and how often each has acted. */
  list(): { readonly faults: readonly Fault[]; readonly acted: readonly number[] } {
    return { faults: this.rules.map((rule) => rule.fault), acted: this.rules.map((rule) => rule.acted) };
  }

  /** Decides which rules act on this request, and counts them. */
  judge(request: FaultSubject): FaultVerdict {
    let latencyMs = 0;
    for (const rule of this.rules) {
      if (!matches(rule, request) || !acts(rule)) continue;
      const action = rule.fault.do;
      if (action.type !== 'latency') return { latencyMs, action };
      latencyMs += action.ms;
    }
    return { latencyMs, action: null };
  }
}
