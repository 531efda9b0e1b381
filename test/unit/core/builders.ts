// Values for the tests of core: catalogs, histories and plans with defaults.
import { createHash } from 'node:crypto';
import type {
  DesiredCatalog,
  DesiredEntry,
  Entry,
  ObservedCatalog,
  Policy,
  Resource,
} from '../../../src/core/catalog.ts';
import type { History } from '../../../src/core/history.ts';
import { makePlan, type PlanInput } from '../../../src/core/make-plan.ts';
import { unknownHolders } from '../../../src/core/unknown-holders.ts';
import type { HeldChange, Plan } from '../../../src/core/plan.ts';

export const NOW = '2026-03-10T12:00:00.000Z';
export const NOW_MS = Date.parse(NOW);

export const POLICY: Policy = {
  delete: 'unused',
  ownership: 'all',
  maxDeletes: 10,
  maxDeletePercent: 30,
  // Most tests list no people; the rule no_evidence has tests of its own.
  allowNoPeople: true,
  protect: [],
  duplicates: 'report',
  unusedForMs: 0,
  freeze: [],
};

/** No limits and no guards, so that only names matter. */
export const UNLIMITED: Policy = {
  ...POLICY,
  delete: 'always',
  maxDeletes: 100_000,
  maxDeletePercent: 100,
};

export const HISTORY: History = {
  hasSnapshot: true,
  owned: new Set(),
  requestedNames: new Map(),
  lastUsedMs: new Map(),
  recentDeletesMs: [],
  flappingCreates: new Map(),
  flappingDeletes: new Map(),
  doubtfulCreates: new Map(),
  awaited: [],
  gone: new Set(),
  missingUse: new Set(),
  neverListed: [],
  released: [],
  releasedRuns: new Map(),
  refusedCreates: new Set(),
  knownNames: new Map(),
};

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** An entry; its id is its name by default. */
export function entry(name: string, id = name, createDate?: string): Entry {
  const date = createDate === undefined ? {} : { createDate };
  return { id, name, ...date, raw: { _id: id, name, ...date } };
}

export function person(id: string, skillsIds?: readonly string[], roleId?: string | null): Resource {
  const has = {
    ...(skillsIds === undefined ? {} : { skillsIds }),
    ...(roleId === undefined ? {} : { roleId }),
  };
  return { id, ...has, raw: { _id: id, ...has } };
}

export function observed(parts: Partial<ObservedCatalog> = {}): ObservedCatalog {
  return { skill: [], role: [], resources: [], warnings: [], ...parts };
}

export function wanted(...names: readonly (string | DesiredEntry)[]): DesiredEntry[] {
  return names.map((each) => (typeof each === 'string' ? { name: each, formerly: [] } : each));
}

export interface Case {
  readonly skills?: readonly (string | DesiredEntry)[];
  readonly roles?: readonly (string | DesiredEntry)[];
  readonly allowedDeletes?: DesiredCatalog['allowedDeletes'];
  readonly absent?: DesiredCatalog['absent'];
  readonly observed?: Partial<ObservedCatalog>;
  readonly policy?: Partial<Policy>;
  readonly history?: Partial<History>;
  readonly input?: Partial<PlanInput>;
}

export function plan(of: Case): Plan {
  return makePlan({
    account: 'acme',
    remoteAccountId: '42',
    now: NOW,
    nowMs: NOW_MS,
    desired: {
      ...(of.skills === undefined ? {} : { skill: wanted(...of.skills) }),
      ...(of.roles === undefined ? {} : { role: wanted(...of.roles) }),
      allowedDeletes: of.allowedDeletes ?? [],
      ...(of.absent === undefined ? {} : { absent: of.absent }),
    },
    policy: { ...POLICY, ...of.policy },
    observed: observed(of.observed),
    history: { ...HISTORY, ...of.history },
    frozen: null,
    rollout: null,
    uncommitted: [],
    source: 'current',
    unknownHolders:
      of.policy?.allowNoPeople === false ? unknownHolders(observed(of.observed).resources) : new Map(),
    acceptOlderSource: false,
    acceptNoEvidence: false,
    blocked: null,
    warnings: [],
    configDigest: 'sha256:c',
    configCommit: null,
    appliedCommit: null,
    sha256,
    ...of.input,
  });
}

/** `create skill X`, `delete role Y` … in the plan's order. */
export function steps(of: Plan): string[] {
  return of.operations.map(({ action, kind, name }) => `${action} ${kind} ${name}`);
}

/** The times of the given number of deletes within the last day. */
export function deletesAgo(count: number): number[] {
  return Array.from({ length: count }, (_, index) => NOW_MS - (index + 1) * 60_000);
}

/** The rules that hold a name, or an empty list. */
export function rulesFor(of: Plan, name: string): readonly string[] {
  return of.held.find((held) => held.name === name)?.rules ?? [];
}

export function heldAs(of: Plan, name: string): HeldChange {
  const held = of.held.find((each) => each.name === name);
  if (held === undefined) throw new Error(`${name} is not held`);
  return held;
}

export function codes(of: Plan): string[] {
  return of.warnings.map(({ code }) => code);
}
