// The fault rules, which make the sandbox fail on request: their format, and which of them acts on a request.
import { z } from 'zod';
import { anInteger, aNumber, aText, parseAs } from './check.ts';
import { actionSchema, type FaultAction, type FaultEffects, rowOf } from './fault-actions.ts';
import type { Subject } from './operations.ts';
import type { ServiceResponse } from './send.ts';
import { type Random, seededRandom } from './settings.ts';

const pattern = aText.superRefine((text, context) => {
  try {
    new RegExp(text);
  } catch {
    context.addIssue(`should be resource, skill, role or a valid regular expression, not ${text}`);
  }
});

/**
 * One rule. The first rule that matches a request acts. It ignores its first `skip` matches, then acts with
 * `probability` (default 1) at each match, at most `times` (default 1) times.
 */
const rule = z.strictObject({
  /** Which requests it matches. All given properties must match. */
  match: z
    .strictObject({
      method: aText.exactOptional(),
      /** `resource`, `skill` or `role`, or a regular expression that is searched in the path (from `/api` on). */
      path: pattern.exactOptional(),
      /** The account's name. */
      account: aText.exactOptional(),
      /** The name in the body of a create, or the name of the entry to delete. */
      name: z.string().exactOptional(),
    })
    .exactOptional(),
  times: z.union([z.literal('always'), anInteger(0)]).exactOptional(),
  skip: anInteger(0).exactOptional(),
  probability: aNumber(0, 1).exactOptional(),
  do: actionSchema,
});
export type Fault = Readonly<z.output<typeof rule>>;

/** The rules. Throws a `SandboxError` that names every problem and its path. */
export function parseFaults(value: unknown): readonly Fault[] {
  return parseAs(z.array(rule), value, 'faults');
}

/** The properties of a request that rules can match. */
export interface FaultSubject {
  readonly method: string;
  readonly path: string;
  readonly subject: Subject | null;
  readonly account: string | null;
  readonly name: string | null;
}

/** The decision for one request: a delay, and at most one other action. */
interface FaultVerdict {
  readonly latencyMs: number;
  readonly type: FaultAction['type'] | null;
  /** Carries out the request under the fault, or without one. */
  readonly carryOut: (effects: FaultEffects) => ServiceResponse;
}

const SUBJECTS = new Set(['resource', 'skill', 'role']);

/** A rule, and how often it has acted. */
export class FaultRule {
  readonly fault: Fault;
  acted = 0;
  private skipped = 0;
  private readonly random: Random;

  constructor(fault: Fault, seed: number) {
    this.fault = fault;
    this.random = seededRandom(seed);
  }

  matches(request: FaultSubject): boolean {
    const { method, account, name, path } = this.fault.match ?? {};
    const { only } = rowOf(this.fault.do);
    if (only?.includes(request.method) === false) return false;
    if (method !== undefined && method.toUpperCase() !== request.method) return false;
    if (account !== undefined && account !== request.account) return false;
    if (name !== undefined && name !== request.name) return false;
    if (path === undefined) return true;
    return SUBJECTS.has(path) ? path === request.subject : new RegExp(path).test(request.path);
  }

  acts(): boolean {
    const { times = 1, skip = 0, probability = 1 } = this.fault;
    if (times !== 'always' && this.acted >= times) return false;
    if (this.skipped < skip) {
      this.skipped += 1;
      return false;
    }
    if (probability < 1 && this.random() >= probability) return false;
    this.acted += 1;
    return true;
  }
}

/** Decides which rules act on this request, and counts them. */
export function judge(rules: readonly FaultRule[], request: FaultSubject): FaultVerdict {
  let latencyMs = 0;
  for (const rule of rules) {
    if (!rule.matches(request) || !rule.acts()) continue;
    const action = rule.fault.do;
    if (action.type !== 'latency') {
      const row = rowOf(action);
      // The row's own schema has parsed the action.
      return { latencyMs, type: action.type, carryOut: (effects) => row.act(action as never, effects) };
    }
    latencyMs += action.ms;
  }
  return { latencyMs, type: null, carryOut: ({ perform }) => perform() };
}
