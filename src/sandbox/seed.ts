// The format of a seed, the data with which a sandbox starts, and its validation. The types of what is stored follow from it.
import { z } from 'zod';
import { aNumber, anInteger, aText, type Given, parseAs, SandboxError } from './check.ts';
import { settingsSchema } from './settings.ts';

/** The four regions of the service, each with its own base address. */
export const REGIONS = ['us', 'eu', 'au', 'il'] as const;
export type Region = (typeof REGIONS)[number];

/** The two kinds of entries that the API can create and delete. */
export const KINDS = ['skill', 'role'] as const;
export type Kind = (typeof KINDS)[number];

const timestamp = aText.refine((text) => !Number.isNaN(Date.parse(text)), {
  error: 'should be an ISO 8601 timestamp',
});

/** A skill or a role: its name, or an object with its name, id and creation date. */
const entry = z.union([
  aText.transform((name): SeedEntry => ({ name })),
  z.strictObject({ name: aText, id: aText.exactOptional(), createDate: timestamp.exactOptional() }),
]);
export interface SeedEntry {
  readonly name: string;
  readonly id?: string;
  readonly createDate?: string;
}

/**
 * A person. `role` and `skills` are names in the same account. `roleId` and `skillsIds` are ids, which are not
 * checked: a seed can contain references to ids that no entry has.
 */
export const resourceSchema = z.strictObject({
  id: aText.exactOptional(),
  createDate: timestamp.exactOptional(),
  role: aText.nullable().default(null),
  skills: z.array(aText).default([]),
  roleId: aText.exactOptional(),
  skillsIds: z.array(aText).default([]),
  /** 0 = Monday … 6 = Sunday. */
  workingDays: z.array(anInteger(0, 6)).default([0, 1, 2, 3, 4]),
  dailyCapacity: aNumber(0).default(8),
  calendarsIds: z.array(aText).default([]),
  salary: z
    .strictObject({
      amount: anInteger(0).default(0),
      currency: z.string().default('USD'),
      period: z.literal(['hourly', 'daily', 'monthly', 'yearly']).default('monthly'),
    })
    .nullable()
    .default(null),
});
export type SeedResource = Given<z.output<typeof resourceSchema>>;

/** The message must not contain the token. */
const TOKEN = 'should be a token of visible ASCII characters';

/** An account. Defaults of the n-th: id `sandbox-account-n`, token `sandbox-token-n`. */
const account = z.strictObject({
  name: aText,
  id: aText.exactOptional(),
  token: z
    .string(TOKEN)
    .regex(/^[\x21-\x7e]+$/, TOKEN)
    .exactOptional(),
  region: z.literal(REGIONS).default('us'),
  skills: z.array(entry).default([]),
  roles: z.array(entry).default([]),
  resources: z.array(resourceSchema).default([]),
});
export type SeedAccount = Given<z.output<typeof account>>;

/** The accounts are used only if the data file is new, the settings at every start. */
const seedSchema = z.strictObject({ accounts: z.array(account), settings: settingsSchema.prefault({}) });
export type SandboxSeed = Given<z.input<typeof seedSchema>>;
export type Seed = Given<z.output<typeof seedSchema>>;

/** The seed. Throws a `SandboxError` that names every problem and its path. */
export function parseSeed(value: unknown): Seed {
  const seed = parseAs(seedSchema, value, 'seed');
  const problems = seed.accounts.flatMap((one, at) =>
    [...problemsOf(one, seed.accounts.slice(0, at))].map((problem) => `seed.accounts[${at}]${problem}`),
  );
  if (problems.length > 0) throw new SandboxError('invalid', problems);
  return seed;
}

/** What no schema sees: references to missing entries, and names, tokens and ids that are given twice. */
function* problemsOf(one: SeedAccount, earlier: readonly SeedAccount[]): Generator<string> {
  const { name, token, skills, roles, resources } = one;
  if (earlier.some((each) => each.name === name))
    yield `: another account has the same name (${name}); choose another`;
  if (token !== undefined && earlier.some((each) => each.token === token))
    yield ': another account has the same token; choose another';
  const skillNames = new Set(skills.map((each) => each.name));
  const roleNames = new Set(roles.map((each) => each.name));
  for (const [at, person] of resources.entries()) {
    if (person.role !== null && !roleNames.has(person.role))
      yield `.resources[${at}].role: the account has no role "${person.role}"; add it to "roles"`;
    for (const skill of person.skills.filter((each) => !skillNames.has(each)))
      yield `.resources[${at}].skills: the account has no skill "${skill}"; add it to "skills"`;
  }
  for (const id of repeatedIds([...skills, ...roles]))
    yield `: two entries have the id ${id}; give each its own`;
  if (repeatedIds(resources).length > 0)
    yield '.resources: two resources have the same id; give each its own';
}

function repeatedIds(items: readonly { readonly id?: string }[]): readonly string[] {
  const ids = items.map(({ id }) => id).filter((id) => id !== undefined);
  const seen = new Set<string>();
  return ids.filter((id) => seen.size === seen.add(id).size);
}

/** The account of the demo and of `init --sandbox`, in the region `eu`: its names are real, its people are invented. */
export function demoSeed(name: string): SandboxSeed {
  const skills = ['Admin tools', 'COBOL', 'Figma', 'K8s', 'Perl', 'Photoshop', 'PostgreSQL', 'TypeScript'];
  const resources = [
    { id: 'ada', role: 'Backend engineer', skills: ['K8s', 'Perl', 'TypeScript'] },
    { id: 'grace', role: 'Backend engineer', skills: ['K8s', 'PostgreSQL'] },
    { id: 'hedy', role: 'Designer', skills: ['Figma', 'TypeScript'] },
  ];
  const roles = ['Backend engineer', 'Designer', 'Webmaster'];
  return { accounts: [{ name, id: '4815162342', region: 'eu', skills, roles, resources }] };
}
