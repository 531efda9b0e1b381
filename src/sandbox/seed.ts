// What a sandbox starts with: accounts, their entries and their people, named instead of numbered.

import {
  aNumber,
  aText,
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

/** A skill or a role: its name, or more. */
export type SeedEntry =
  string | { readonly name: string; readonly id?: string; readonly createDate?: string };

/**
 * A person. `role` and `skills` are names of the same account; `roleId` and `skillsIds` are taken as they are,
 * so that a reference to nothing can be made.
 */
export interface SeedResource {
  readonly id?: string;
  readonly createDate?: string;
  readonly role?: string | null;
  readonly skills?: readonly string[];
  readonly roleId?: string;
  readonly skillsIds?: readonly string[];
  /** 0 = Monday … 6 = Sunday; Monday to Friday when absent. */
  readonly workingDays?: readonly number[];
  /** 8 when absent. */
  readonly dailyCapacity?: number;
  readonly calendarsIds?: readonly string[];
  /** Missing parts are those of section 2.2: 0, USD, monthly. */
  readonly salary?: Partial<Salary> | null;
}

/** An account; the n-th has the id `sandbox-account-n`, the token `sandbox-token-n` and the region `us` by default. */
export interface SeedAccount {
  readonly name: string;
  readonly id?: string;
  readonly token?: string;
  readonly region?: Region;
  readonly skills?: readonly SeedEntry[];
  readonly roles?: readonly SeedEntry[];
  readonly resources?: readonly SeedResource[];
}

/** The accounts are made only when the data file is new; the settings hold at every start. */
export interface SandboxSeed {
  readonly accounts: readonly SeedAccount[];
  readonly settings?: Partial<SandboxSettings>;
}

const timestamp: Check = (value, path, issues) => {
  aText(value, path, issues);
  if (typeof value === 'string' && Number.isNaN(Date.parse(value)))
    issues.add(path, 'should be an ISO 8601 timestamp');
};

const entry = textOr(objectOf({ name: aText, id: aText, createDate: timestamp }, ['name']));

/** A person as seeds and controls give them. */
export const resourceCheck: Check = objectOf({
  id: aText,
  createDate: timestamp,
  role: nullOr(aText),
  skills: listOf(aText),
  roleId: aText,
  skillsIds: listOf(aText),
  workingDays: listOf(anInteger(0, 6)),
  dailyCapacity: aNumber(0),
  calendarsIds: listOf(aText),
  salary: nullOr(objectOf({ amount: anInteger(0), currency: aString, period: oneOf(...PERIODS) })),
});

const token: Check = (value, path, issues) => {
  if (typeof value !== 'string' || !/^[\x21-\x7e]+$/.test(value)) {
    issues.add(path, 'should be a token of visible ASCII characters'); // and is not repeated here
  }
};

const account = objectOf(
  {
    name: aText,
    id: aText,
    token,
    region: oneOf(...REGIONS),
    skills: listOf(entry),
    roles: listOf(entry),
    resources: listOf(resourceCheck),
  },
  ['name'],
);

const seed = objectOf({ accounts: listOf(account), settings: settingsCheck }, ['accounts']);

function noteTwins(
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
        `another account has the same ${what}${show ? ` (${value})` : ''}`,
      );
    seen.add(value);
  }
}

function nameOf(each: SeedEntry): string {
  return typeof each === 'string' ? each : each.name;
}

function noteStrangers(issues: Issues, path: string, one: SeedAccount): void {
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

function noteTakenIds(issues: Issues, path: string, one: SeedAccount): void {
  const seen = new Set<string>();
  for (const each of [...(one.skills ?? []), ...(one.roles ?? [])]) {
    if (typeof each === 'string' || each.id === undefined) continue;
    if (seen.has(each.id)) issues.add(path, `two entries have the id ${each.id}`);
    seen.add(each.id);
  }
  const people = (one.resources ?? []).map((person) => person.id).filter((id) => id !== undefined);
  if (new Set(people).size < people.length) issues.add(`${path}.resources`, 'two resources have the same id');
}

/** The seed, or a `SandboxError` that names every problem with its place. */
export function parseSeed(value: unknown): SandboxSeed {
  const issues = new Issues();
  seed(value, 'seed', issues);
  issues.throwIfAny();
  const parsed = structuredClone(value) as SandboxSeed; // every key and value was checked above
  noteTwins(
    issues,
    'name',
    parsed.accounts.map((one) => one.name),
    true,
  );
  noteTwins(
    issues,
    'token',
    parsed.accounts.map((one) => one.token),
    false,
  );
  for (const [index, one] of parsed.accounts.entries()) {
    noteStrangers(issues, `seed.accounts[${index}]`, one);
    noteTakenIds(issues, `seed.accounts[${index}]`, one);
  }
  issues.throwIfAny();
  return parsed;
}
