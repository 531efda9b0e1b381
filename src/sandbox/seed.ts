// The format of a seed, the data with which a sandbox starts, and its validation.

import {
  aNumber,
  aNonEmptyString,
  anInteger,
  type Check,
  Issues,
  listOf,
  nullOr,
  objectOf,
  oneOf,
  aString,
  textOr,
} from './check.ts';
import { PERIODS, REGIONS, type Region, type Salary } from './model.ts';
import { settingsCheck, type SandboxSettings } from './settings.ts';

/** A skill or a role: its name, or an object with its name, id and creation date. */
export type SeedEntry =
  string | { readonly name: string; readonly id?: string; readonly createDate?: string };

/**
 * A person. `role` and `skills` are names in the same account. `roleId` and `skillsIds` are ids, which are not
 * checked: a seed can contain references to ids that no entry has.
 */
export interface SeedResource {
  readonly id?: string;
  readonly createDate?: string;
  readonly role?: string | null;
  readonly skills?: readonly string[];
  readonly roleId?: string;
  readonly skillsIds?: readonly string[];
  /** 0 = Monday … 6 = Sunday. Default: Monday to Friday. */
  readonly workingDays?: readonly number[];
  /** Default: 8. */
  readonly dailyCapacity?: number;
  readonly calendarsIds?: readonly string[];
  /** Defaults: amount 0, currency USD, period monthly. */
  readonly salary?: Partial<Salary> | null;
}

/** An account. Defaults of the n-th: id `sandbox-account-n`, token `sandbox-token-n`, region `us`. */
export interface SeedAccount {
  readonly name: string;
  readonly id?: string;
  readonly token?: string;
  readonly region?: Region;
  readonly skills?: readonly SeedEntry[];
  readonly roles?: readonly SeedEntry[];
  readonly resources?: readonly SeedResource[];
}

/** The accounts are used only if the data file is new, the settings at every start. */
export interface SandboxSeed {
  readonly accounts: readonly SeedAccount[];
  readonly settings?: Partial<SandboxSettings>;
}

const timestamp: Check = (value, path, issues) => {
  aNonEmptyString(value, path, issues);
  if (typeof value === 'string' && Number.isNaN(Date.parse(value)))
    issues.add(path, 'should be an ISO 8601 timestamp');
};

const entry = textOr(
  objectOf({ name: aNonEmptyString, id: aNonEmptyString, createDate: timestamp }, ['name']),
);

/** Checks a person of a seed or of a control request. */
export const resourceCheck: Check = objectOf({
  id: aNonEmptyString,
  createDate: timestamp,
  role: nullOr(aNonEmptyString),
  skills: listOf(aNonEmptyString),
  roleId: aNonEmptyString,
  skillsIds: listOf(aNonEmptyString),
  workingDays: listOf(anInteger(0, 6)),
  dailyCapacity: aNumber(0),
  calendarsIds: listOf(aNonEmptyString),
  salary: nullOr(objectOf({ amount: anInteger(0), currency: aString, period: oneOf(...PERIODS) })),
});

const token: Check = (value, path, issues) => {
  if (typeof value !== 'string' || !/^[\x21-\x7e]+$/.test(value)) {
    issues.add(path, 'should be a token of visible ASCII characters'); // the message must not contain the token
  }
};

const account = objectOf(
  {
    name: aNonEmptyString,
    id: aNonEmptyString,
    token,
    region: oneOf(...REGIONS),
    skills: listOf(entry),
    roles: listOf(entry),
    resources: listOf(resourceCheck),
  },
  ['name'],
);

const seed = objectOf({ accounts: listOf(account), settings: settingsCheck }, ['accounts']);

function checkUnique(
  issues: Issues,
  what: string,
  values: readonly (string | undefined)[],
  show: boolean,
): void {
  const seen = new Set<string>();
  for (const [index, value] of values.entries()) {
    if (value === undefined) continue;
    if (seen.has(value))
      issues.add(
        `seed.accounts[${index}]`,
        `another account has the same ${what}${show ? ` (${value})` : ''}; choose another`,
      );
    seen.add(value);
  }
}

function nameOf(each: SeedEntry): string {
  return typeof each === 'string' ? each : each.name;
}

function checkReferences(issues: Issues, path: string, one: SeedAccount): void {
  const skills = new Set((one.skills ?? []).map(nameOf));
  const roles = new Set((one.roles ?? []).map(nameOf));
  for (const [index, person] of (one.resources ?? []).entries()) {
    const place = `${path}.resources[${index}]`;
    if (typeof person.role === 'string' && !roles.has(person.role)) {
      issues.add(`${place}.role`, `the account has no role "${person.role}"; add it to "roles"`);
    }
    for (const skill of person.skills ?? []) {
      if (!skills.has(skill))
        issues.add(`${place}.skills`, `the account has no skill "${skill}"; add it to "skills"`);
    }
  }
}

function checkIds(issues: Issues, path: string, one: SeedAccount): void {
  const seen = new Set<string>();
  for (const each of [...(one.skills ?? []), ...(one.roles ?? [])]) {
    if (typeof each === 'string' || each.id === undefined) continue;
    if (seen.has(each.id)) issues.add(path, `two entries have the id ${each.id}; give each its own`);
    seen.add(each.id);
  }
  const people = (one.resources ?? []).map((person) => person.id).filter((id) => id !== undefined);
  if (new Set(people).size < people.length)
    issues.add(`${path}.resources`, 'two resources have the same id; give each its own');
}

/** The seed. Throws a `SandboxError` that names every problem and its path. */
export function parseSeed(value: unknown): SandboxSeed {
  const issues = new Issues();
  seed(value, 'seed', issues);
  issues.throwIfAny();
  const parsed = structuredClone(value) as SandboxSeed; // every key and value was checked above
  checkUnique(
    issues,
    'name',
    parsed.accounts.map((one) => one.name),
    true,
  );
  checkUnique(
    issues,
    'token',
    parsed.accounts.map((one) => one.token),
    false,
  );
  for (const [index, one] of parsed.accounts.entries()) {
    checkReferences(issues, `seed.accounts[${index}]`, one);
    checkIds(issues, `seed.accounts[${index}]`, one);
  }
  issues.throwIfAny();
  return parsed;
}
