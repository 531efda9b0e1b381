// All accounts of a sandbox: from the data file, or from the seed if the data file is new.

import { Account } from './account.ts';
import type { DataFile } from './data-file.ts';
import { seededId } from './random.ts';
import { type AccountIdentity, type Kind, REGIONS, type ResourceRecord, type SandboxEntry } from './model.ts';
import { SandboxError } from './check.ts';
import type { SandboxSeed, SeedAccount, SeedEntry, SeedResource } from './seed.ts';

const FIRST_DAY_MS = Date.UTC(2026, 0, 5, 8);

/** A date that depends on the position only, so that a seed always gives the same bytes. */
function seededDate(position: number): string {
  return new Date(FIRST_DAY_MS + position * 1000).toISOString();
}

/** The accounts, found by name or by token. */
export class Accounts {
  readonly all: readonly Account[];
  private readonly byName: ReadonlyMap<string, Account>;
  private readonly byToken: ReadonlyMap<string, Account>;

  constructor(accounts: readonly Account[]) {
    this.all = accounts;
    this.byName = new Map(accounts.map((account) => [account.identity.name, account]));
    this.byToken = new Map(accounts.map((account) => [account.identity.token, account]));
  }

  /** The account of this name. Throws `SandboxError` (`not_found`) with the existing names. */
  get(name: string): Account {
    const account = this.byName.get(name);
    if (account !== undefined) return account;
    const names = [...this.byName.keys()].join(', ');
    throw new SandboxError('not_found', `no account is named ${name}; the accounts are ${names}`);
  }

  withToken(token: string): Account | undefined {
    return this.byToken.get(token);
  }
}

function makeIdentity(seed: SeedAccount, index: number): AccountIdentity {
  return {
    name: seed.name,
    id: seed.id ?? `sandbox-account-${index + 1}`,
    token: seed.token ?? `sandbox-token-${index + 1}`,
    region: seed.region ?? 'us',
  };
}

/** `account-n` with `sandbox-token-n`. The regions alternate: us, eu, au, il, us … */
function generatedAccount(index: number): SeedAccount {
  return { name: `account-${index + 1}`, region: REGIONS[index % REGIONS.length] ?? 'us' };
}

function seedEntries(account: string, kind: Kind, seeds: readonly SeedEntry[]): SandboxEntry[] {
  const seen = new Map<string, number>();
  return seeds.map((seed, position) => {
    const given = typeof seed === 'string' ? { name: seed } : seed;
    const occurrence = seen.get(given.name) ?? 0;
    seen.set(given.name, occurrence + 1);
    return {
      id: given.id ?? seededId(account, kind, given.name, String(occurrence)),
      name: given.name,
      createDate: given.createDate ?? seededDate(position),
    };
  });
}

interface PersonDefaults {
  readonly id: string;
  readonly createDate: string;
}

/** A person with names resolved to ids. Throws `SandboxError` for an unknown name; of duplicates it uses the first. */
export function makeResource(account: Account, seed: SeedResource, defaults: PersonDefaults): ResourceRecord {
  const roles = idsByName(account.entries.role.all());
  const skills = idsByName(account.entries.skill.all());
  return resolvePerson(seed, defaults, { account: account.identity.name, roles, skills });
}

function idsByName(entries: readonly SandboxEntry[]): ReadonlyMap<string, string> {
  return new Map(entries.toReversed().map((entry) => [entry.name, entry.id]));
}

/** The ids of an account's entries by their names. */
interface KnownNames {
  readonly account: string;
  readonly roles: ReadonlyMap<string, string>;
  readonly skills: ReadonlyMap<string, string>;
}

function resolvePerson(
  seed: SeedResource,
  defaults: PersonDefaults,
  { account, roles, skills }: KnownNames,
): ResourceRecord {
  const idOf = (ids: ReadonlyMap<string, string>, name: string): string => {
    const id = ids.get(name);
    if (id === undefined)
      throw new SandboxError('invalid', `account ${account} has no entry named ${name}; add it first`);
    return id;
  };
  const named = (seed.skills ?? []).map((name) => idOf(skills, name));
  const role = typeof seed.role === 'string' ? idOf(roles, seed.role) : null;
  return {
    id: seed.id ?? defaults.id,
    createDate: seed.createDate ?? defaults.createDate,
    roleId: seed.roleId ?? role,
    skillsIds: [...new Set([...named, ...(seed.skillsIds ?? [])])],
    workingDays: seed.workingDays ?? [0, 1, 2, 3, 4],
    dailyCapacity: seed.dailyCapacity ?? 8,
    calendarsIds: seed.calendarsIds ?? [],
    salary: seed.salary ? { amount: 0, currency: 'USD', period: 'monthly', ...seed.salary } : null,
  };
}

function storeSeedAccount(data: DataFile, seed: SeedAccount, index: number): void {
  const identity = makeIdentity(seed, index);
  const { name } = identity;
  const skills = seedEntries(name, 'skill', seed.skills ?? []);
  const roles = seedEntries(name, 'role', seed.roles ?? []);
  data.addAccount(identity);
  for (const entry of skills) data.put(name, 'skill', entry);
  for (const entry of roles) data.put(name, 'role', entry);
  const known = { account: name, roles: idsByName(roles), skills: idsByName(skills) };
  for (const [position, person] of (seed.resources ?? []).entries()) {
    const defaults = { id: seededId(name, 'resource', String(position)), createDate: seededDate(position) };
    data.put(name, 'resource', resolvePerson(person, defaults, known));
  }
}

/**
 * The accounts of the data file. A new file first receives the accounts of the seed. Then accounts are generated until
 * there are `atLeast`. Throws `SandboxError` if two accounts would have the same name or token.
 */
export function openAccounts(data: DataFile, seed: SandboxSeed | undefined, atLeast: number): Accounts {
  data.transaction(() => {
    const stored = data.accounts();
    const seeded = stored.length === 0 ? (seed?.accounts ?? []) : [];
    const generated: SeedAccount[] = [];
    for (let index = Math.max(stored.length, seeded.length); index < atLeast; index += 1)
      generated.push(generatedAccount(index));
    const seeds = [...seeded, ...generated];
    const all = [...stored, ...seeds.map((each, offset) => makeIdentity(each, stored.length + offset))];
    refuseDuplicates(all);
    for (const [offset, each] of seeds.entries()) storeSeedAccount(data, each, stored.length + offset);
  });
  return new Accounts(data.accounts().map((identity) => new Account(identity, data)));
}

function refuseDuplicates(all: readonly AccountIdentity[]): void {
  for (const [index, one] of all.entries()) {
    const duplicate = all.slice(0, index).find((each) => each.name === one.name || each.token === one.token);
    if (duplicate === undefined) continue;
    const what = duplicate.name === one.name ? 'name' : 'token';
    throw new SandboxError(
      'invalid',
      `accounts ${duplicate.name} and ${one.name} would have the same ${what}; give one its own`,
    );
  }
}
