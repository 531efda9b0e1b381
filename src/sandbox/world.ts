// All accounts of a sandbox: made from a seed when the data file is new, else as they were left.

import { Account } from './account.ts';
import type { DataFile } from './data-file.ts';
import { newId, seededId } from './ids.ts';
import { type AccountIdentity, type Kind, REGIONS, type ResourceRecord, type SandboxEntry } from './model.ts';
import { SandboxError } from './sandbox-error.ts';
import type { SandboxSeed, SeedAccount, SeedEntry, SeedResource } from './seed.ts';

const FIRST_DAY_MS = Date.UTC(2026, 0, 5, 8);

/** A moment in the past that depends on the position only, so that seeds give the same bytes every time. */
function seededDate(position: number): string {
  return new Date(FIRST_DAY_MS + position * 1000).toISOString();
}

/** The accounts, found by name or by token. */
export class World {
  readonly accounts: readonly Account[];
  private readonly byName: ReadonlyMap<string, Account>;
  private readonly byToken: ReadonlyMap<string, Account>;

  constructor(accounts: readonly Account[]) {
    this.accounts = accounts;
    this.byName = new Map(accounts.map((account) => [account.identity.name, account]));
    this.byToken = new Map(accounts.map((account) => [account.identity.token, account]));
  }

  /** Throws `SandboxError` (`not_found`) with the names there are. */
  account(name: string): Account {
    const account = this.byName.get(name);
    if (account !== undefined) return account;
    const names = [...this.byName.keys()].join(', ');
    throw new SandboxError('not_found', `no account is named ${name}; there are ${names}`);
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

/** `account-n` with `sandbox-token-n`, in the four regions in turn: us, eu, au, il, us … */
function madeAccount(index: number): SeedAccount {
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

/** A person with names turned into ids. A name that the account lacks is a `SandboxError`; of twins the first counts. */
export function makeResource(account: Account, seed: SeedResource, defaults: PersonDefaults): ResourceRecord {
  const roles = idsByName(account, 'role');
  return placePerson(seed, defaults, roles, idsByName(account, 'skill'), account.identity.name);
}

function idsByName(account: Account, kind: Kind): ReadonlyMap<string, string> {
  return new Map(
    account.shelves[kind]
      .all()
      .toReversed()
      .map((entry) => [entry.name, entry.id]),
  );
}

function placePerson(
  seed: SeedResource,
  defaults: PersonDefaults,
  roles: ReadonlyMap<string, string>,
  skills: ReadonlyMap<string, string>,
  account: string,
): ResourceRecord {
  const idOf = (ids: ReadonlyMap<string, string>, name: string): string => {
    const id = ids.get(name);
    if (id === undefined) throw new SandboxError('invalid', `account ${account} has no entry named ${name}`);
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

function plant(data: DataFile, seed: SeedAccount, index: number): void {
  const identity = makeIdentity(seed, index);
  const { name } = identity;
  const skills = seedEntries(name, 'skill', seed.skills ?? []);
  const roles = seedEntries(name, 'role', seed.roles ?? []);
  data.addAccount(identity);
  for (const entry of skills) data.addEntry(name, 'skill', entry);
  for (const entry of roles) data.addEntry(name, 'role', entry);
  const byName = (entries: readonly SandboxEntry[]) =>
    new Map(entries.toReversed().map((entry) => [entry.name, entry.id]));
  const [roleIds, skillIds] = [byName(roles), byName(skills)];
  for (const [position, person] of (seed.resources ?? []).entries()) {
    const defaults = { id: seededId(name, 'resource', String(position)), createDate: seededDate(position) };
    data.putResource(name, placePerson(person, defaults, roleIds, skillIds, name));
  }
}

/**
 * The accounts of the data file; a new file first gets those of the seed. Then accounts are made until there are
 * `atLeast`. A token or name that two accounts would share is a `SandboxError`.
 */
export function openWorld(data: DataFile, seed: SandboxSeed | undefined, atLeast: number): World {
  data.together(() => {
    const kept = data.accounts();
    const planted = kept.length === 0 ? (seed?.accounts ?? []) : [];
    const made: SeedAccount[] = [];
    for (let index = Math.max(kept.length, planted.length); index < atLeast; index += 1)
      made.push(madeAccount(index));
    const seeds = [...planted, ...made];
    const all = [...kept, ...seeds.map((each, offset) => makeIdentity(each, kept.length + offset))];
    refuseTwins(all);
    for (const [offset, each] of seeds.entries()) plant(data, each, kept.length + offset);
  });
  return new World(data.accounts().map((identity) => new Account(identity, data)));
}

function refuseTwins(all: readonly AccountIdentity[]): void {
  for (const [index, one] of all.entries()) {
    const twin = all.slice(0, index).find((each) => each.name === one.name || each.token === one.token);
    if (twin === undefined) continue;
    const what = twin.name === one.name ? 'name' : 'token';
    throw new SandboxError(
      'invalid',
      `accounts ${twin.name} and ${one.name} would have the same ${what}; give one its own`,
    );
  }
}

/** A new entry of now. */
export function newEntry(name: string, nowMs: number): SandboxEntry {
  return { id: newId(nowMs), name, createDate: new Date(nowMs).toISOString() };
}
