// Decides which fault rule acts on a request, and counts how often each rule has acted.

import type { Fault, FaultAction } from './faults.ts';
import { type Random, seededRandom } from './random.ts';

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
  rename: ['POST'],
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
