// The format of a seed, the data with which a sandbox starts, and its validation.
import { z } from 'zod';
import {
  aNonEmptyString,
  anInteger,
  aNumber,
  aString,
  listOf,
  objectOf,
  oneOf,
  parseAs,
  SandboxError,
} from './check.ts';
import { PERIODS, REGIONS } from './model.ts';
import { settingsSchema } from './settings.ts';

const timestamp = aNonEmptyString.refine((text) => !Number.isNaN(Date.parse(text)), {
  error: 'should be an ISO 8601 timestamp',
});

/** A skill or a role: its name, or an object with its name, id and creation date. */
const entry = z.union([
  aNonEmptyString,
  objectOf({
    name: aNonEmptyString,
    id: aNonEmptyString.exactOptional(),
    createDate: timestamp.exactOptional(),
  }),
]);
export type SeedEntry = z.output<typeof entry>;

/**
 * A person. `role` and `skills` are names in the same account. `roleId` and `skillsIds` are ids, which are not
 * checked: a seed can contain references to ids that no entry has.
 */
export const resourceSchema = objectOf({
  id: aNonEmptyString.exactOptional(),
  createDate: timestamp.exactOptional(),
  role: aNonEmptyString.nullable().exactOptional(),
  skills: listOf(aNonEmptyString).exactOptional(),
  roleId: aNonEmptyString.exactOptional(),
  skillsIds: listOf(aNonEmptyString).exactOptional(),
  /** 0 = Monday … 6 = Sunday. Default: Monday to Friday. */
  workingDays: listOf(anInteger(0, 6)).exactOptional(),
  /** Default: 8. */
  dailyCapacity: aNumber(0).exactOptional(),
  calendarsIds: listOf(aNonEmptyString).exactOptional(),
  /** Defaults: amount 0, currency USD, period monthly. */
  salary: objectOf({
    amount: anInteger(0).exactOptional(),
    currency: aString.exactOptional(),
    period: oneOf(...PERIODS).exactOptional(),
  })
    .nullable()
    .exactOptional(),
});
export type SeedResource = z.output<typeof resourceSchema>;

/** The message must not contain the token. */
const token = z
  .string('should be a token of visible ASCII characters')
  .regex(/^[\x21-\x7e]+$/, 'should be a token of visible ASCII characters');

/** An account. Defaults of the n-th: id `sandbox-account-n`, token `sandbox-token-n`, region `us`. */
const account = objectOf({
  name: aNonEmptyString,
  id: aNonEmptyString.exactOptional(),
  token: token.exactOptional(),
  region: oneOf(...REGIONS).exactOptional(),
  skills: listOf(entry).exactOptional(),
  roles: listOf(entry).exactOptional(),
  resources: listOf(resourceSchema).exactOptional(),
});
export type SeedAccount = z.output<typeof account>;

/** The accounts are used only if the data file is new, the settings at every start. */
const seedSchema = objectOf({ accounts: listOf(account), settings: settingsSchema.exactOptional() });
export type SandboxSeed = z.output<typeof seedSchema>;

/** The seed. Throws a `SandboxError` that names every problem and its path. */
export function parseSeed(value: unknown): SandboxSeed {
  const seed = parseAs(seedSchema, value, 'seed');
  const problems = [...duplicateProblems(seed)];
  for (const [index, one] of seed.accounts.entries()) {
    const path = `seed.accounts[${index}]`;
    problems.push(...referenceProblems(path, one), ...idProblems(path, one));
  }
  if (problems.length > 0) throw new SandboxError('invalid', problems);
  return seed;
}

function* duplicateProblems({ accounts }: SandboxSeed): Generator<string> {
  const names = new Set<string>();
  const tokens = new Set<string | undefined>();
  for (const [index, { name, token: own }] of accounts.entries()) {
    const path = `seed.accounts[${index}]`;
    if (names.has(name)) yield `${path}: another account has the same name (${name}); choose another`;
    // The message must not contain the token.
    if (own !== undefined && tokens.has(own))
      yield `${path}: another account has the same token; choose another`;
    names.add(name);
    tokens.add(own);
  }
}

function nameOf(each: SeedEntry): string {
  return typeof each === 'string' ? each : each.name;
}

function* referenceProblems(path: string, one: SeedAccount): Generator<string> {
  const skills = new Set((one.skills ?? []).map(nameOf));
  const roles = new Set((one.roles ?? []).map(nameOf));
  for (const [index, { role, skills: used = [] }] of (one.resources ?? []).entries()) {
    const place = `${path}.resources[${index}]`;
    if (typeof role === 'string' && !roles.has(role))
      yield `${place}.role: the account has no role "${role}"; add it to "roles"`;
    for (const skill of used.filter((each) => !skills.has(each)))
      yield `${place}.skills: the account has no skill "${skill}"; add it to "skills"`;
  }
}

function* idProblems(path: string, one: SeedAccount): Generator<string> {
  const seen = new Set<string>();
  for (const each of [...(one.skills ?? []), ...(one.roles ?? [])]) {
    if (typeof each === 'string' || each.id === undefined) continue;
    if (seen.has(each.id)) yield `${path}: two entries have the id ${each.id}; give each its own`;
    seen.add(each.id);
  }
  const people = (one.resources ?? []).map((person) => person.id).filter((id) => id !== undefined);
  if (new Set(people).size < people.length)
    yield `${path}.resources: two resources have the same id; give each its own`;
}
