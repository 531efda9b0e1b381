// Which rule acts on a request: the rules in their order, with how often each has matched and acted.

import type { Fault, FaultAction } from './faults.ts';
import { type Random, seededRandom } from './random.ts';

/** What the rules look at. */
export interface FaultSubject {
  readonly method: string;
  readonly path: string;
  readonly subject: 'resource' | 'skill' | 'role' | null;
  readonly account: string | null;
  readonly name: string | null;
}

/** What the rules decided: a delay, and at most one other action. */
export interface FaultVerdict {
  readonly latencyMs: number;
  readonly action: Exclude<FaultAction, { type: 'latency' }> | null;
}

interface Page {
  readonly fault: Fault;
  readonly path: RegExp | null;
  readonly random: Random;
  passed: number;
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

function matches(page: Page, request: FaultSubject): boolean {
  const { match = {}, do: action } = page.fault;
  if (ONLY_FOR[action.type]?.includes(request.method) === false) return false;
  if (match.method !== undefined && match.method.toUpperCase() !== request.method) return false;
  if (match.account !== undefined && match.account !== request.account) return false;
  if (match.name !== undefined && match.name !== request.name) return false;
  if (match.path === undefined) return true;
  return page.path === null ? match.path === request.subject : page.path.test(request.path);
}

function acts(page: Page): boolean {
  const { times = 1, skip = 0, probability = 1 } = page.fault;
  if (times !== 'always' && page.acted >= times) return false;
  if (page.passed < skip) {
    page.passed += 1;
    return false;
  }
  if (probability < 1 && page.random() >= probability) return false;
  page.acted += 1;
  return true;
}

/** The rules with their counts. Replacing the rules starts all counts anew. */
export class FaultBook {
  private pages: readonly Page[] = [];

  replace(faults: readonly Fault[], randomSeed: number): void {
    this.pages = faults.map((fault, index) => {
      const path = fault.match?.path;
      const isPattern = path !== undefined && !SUBJECTS.has(path);
      const random = seededRandom(randomSeed * 7919 + index);
      return { fault, path: isPattern ? new RegExp(path) : null, random, passed: 0, acted: 0 };
    });
  }

  /** The rules as they were given, and how often each has acted. */
  list(): { readonly faults: readonly Fault[]; readonly acted: readonly number[] } {
    return { faults: this.pages.map((page) => page.fault), acted: this.pages.map((page) => page.acted) };
  }

  /** What happens to this request; counts it. */
  judge(request: FaultSubject): FaultVerdict {
    let latencyMs = 0;
    for (const page of this.pages) {
      if (!matches(page, request) || !acts(page)) continue;
      const action = page.fault.do;
      if (action.type !== 'latency') return { latencyMs, action };
      latencyMs += action.ms;
    }
    return { latencyMs, action: null };
  }
}
