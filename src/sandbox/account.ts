// The accounts of the sandbox: their skills, roles and resources, the effects of a delete, and how a seed fills them.
import { createHash, randomBytes } from 'node:crypto';
import { SandboxError } from './check.ts';
import type { AccountIdentity, DataFile, ResourceRecord, SandboxEntry } from './data-file.ts';
import { type Kind, KINDS, REGIONS, type Seed, type SeedAccount, type SeedResource } from './seed.ts';

/** A resource as the controls return it: with names beside the ids. An id that no entry has has no name. */
export interface SandboxResource extends ResourceRecord {
  readonly role: string | null;
  readonly skills: readonly string[];
}

interface StoredEntry {
  readonly kind: Kind;
  readonly entry: SandboxEntry;
  /** When lists begin to show it. */
  readonly fromMs: number;
  /** When lists stop showing it; undefined while it exists. */
  readonly untilMs?: number;
}

interface Fresh {
  readonly id: string;
  readonly createDate: string;
}

/** Requests are served from memory. Each change is written to the data file before a request can see it. */
export class Account {
  readonly identity: AccountIdentity;
  /** In the order of insertion. Ids are unique across both kinds. */
  private readonly entries = new Map<string, StoredEntry>();
  private readonly people = new Map<string, ResourceRecord>();
  private readonly data: DataFile;

  constructor(identity: AccountIdentity, data: DataFile) {
    this.identity = identity;
    this.data = data;
    for (const kind of KINDS)
      for (const entry of data.records(identity.name, kind))
        this.entries.set(entry.id, { kind, entry, fromMs: 0 });
    for (const person of data.records(identity.name, 'resource')) this.people.set(person.id, person);
  }

  resources(): ResourceRecord[] {
    return [...this.people.values()];
  }

  /** The entry with this id, and its kind. */
  find(id: string): StoredEntry | undefined {
    const found = this.entries.get(id);
    return found?.untilMs === undefined ? found : undefined;
  }

  /** The entries of a kind. */
  all(kind: Kind): SandboxEntry[] {
    return [...this.entries.values()].flatMap((each) =>
      each.kind === kind && each.untilMs === undefined ? [each.entry] : [],
    );
  }

  /** What a list shows at `nowMs`, while `listDelayMs` hides changes. */
  listed(kind: Kind, nowMs: number): SandboxEntry[] {
    return [...this.entries.values()].flatMap((each) =>
      each.kind === kind && each.fromMs <= nowMs && nowMs < (each.untilMs ?? Infinity) ? [each.entry] : [],
    );
  }

  /** Adds an entry. Lists show it from `fromMs` on. */
  addEntry(kind: Kind, entry: SandboxEntry, fromMs = 0): SandboxEntry {
    if (this.find(entry.id) !== undefined) throw this.alreadyExists(entry.id);
    this.data.put(this.identity.name, kind, entry);
    this.entries.set(entry.id, { kind, entry, fromMs });
    return entry;
  }

  /** Renames an entry, which lists show as long as before. */
  renameEntry(id: string, name: string): SandboxEntry {
    const found = this.require(id);
    const entry = { ...found.entry, name };
    this.data.put(this.identity.name, found.kind, entry);
    this.entries.set(id, { ...found, entry });
    return entry;
  }

  /**
   * Deletes an entry. A deleted skill is removed from all resources, a deleted role is unassigned from them. Lists that have
   * shown the entry show it until `untilMs`.
   */
  removeEntry(id: string, untilMs = 0): void {
    const found = this.require(id);
    const changed = this.resources().filter((person) =>
      found.kind === 'skill' ? person.skillsIds.includes(id) : person.roleId === id,
    );
    this.data.transaction(() => {
      this.data.remove(this.identity.name, found.kind, id);
      for (const person of changed) this.put(without(person, id));
    });
    if (found.fromMs <= Date.now() && untilMs > 0) this.entries.set(id, { ...found, untilMs });
    else this.entries.delete(id);
  }

  /** Adds a person, whose roles and skills may be names. Throws `SandboxError` for a name that no entry has. */
  addResource(seed: SeedResource, fresh: Fresh, idOf = this.idsByName()): SandboxResource {
    const { role, skills, ...given } = seed;
    if (seed.id !== undefined && this.people.has(seed.id)) throw this.alreadyExists(seed.id);
    const named = skills.map((name) => idOf('skill', name));
    return this.put({
      ...fresh,
      ...given,
      roleId: seed.roleId ?? (role === null ? null : idOf('role', role)),
      skillsIds: [...new Set([...named, ...seed.skillsIds])],
    });
  }

  /** Finds the id of a name; of duplicates it is the first. */
  idsByName(): (kind: Kind, name: string) => string {
    const all = KINDS.flatMap((kind) =>
      this.all(kind).map(({ id, name }) => [`${kind} ${name}`, id] as const),
    );
    const ids = new Map(all.toReversed());
    return (kind, name) => {
      const id = ids.get(`${kind} ${name}`);
      if (id !== undefined) return id;
      const problem = `account ${this.identity.name} has no entry named ${name}; add it first`;
      throw new SandboxError('invalid', problem);
    };
  }

  removeResource(id: string): void {
    this.person(id);
    this.data.remove(this.identity.name, 'resource', id);
    this.people.delete(id);
  }

  /** Adds a skill to a person, or replaces the person's role. */
  assign(resourceId: string, entryId: string): SandboxResource {
    const person = this.person(resourceId);
    if (this.require(entryId).kind === 'role') return this.put({ ...person, roleId: entryId });
    return this.put({ ...person, skillsIds: [...new Set([...person.skillsIds, entryId])] });
  }

  /** Removes a skill or the role from a person. The id may be one that no entry has. */
  unassign(resourceId: string, entryId: string): SandboxResource {
    return this.put(without(this.person(resourceId), entryId));
  }

  /** The person with the names of the role and the skills. */
  named(person: ResourceRecord): SandboxResource {
    const nameOf = (kind: Kind, id: string | null): string | undefined => {
      const found = this.find(id ?? '');
      return found?.kind === kind ? found.entry.name : undefined;
    };
    const skills = person.skillsIds.map((id) => nameOf('skill', id)).filter((name) => name !== undefined);
    return { ...person, role: nameOf('role', person.roleId) ?? null, skills };
  }

  person(id: string): ResourceRecord {
    const person = this.people.get(id);
    if (person !== undefined) return person;
    throw new SandboxError('not_found', `account ${this.identity.name} has no resource with the id ${id}`);
  }

  private put(person: ResourceRecord): SandboxResource {
    this.data.put(this.identity.name, 'resource', person);
    this.people.set(person.id, person);
    return this.named(person);
  }

  private require(id: string): StoredEntry {
    const found = this.find(id);
    if (found !== undefined) return found;
    throw new SandboxError('not_found', `account ${this.identity.name} has no entry with the id ${id}`);
  }

  private alreadyExists(id: string): SandboxError {
    const message = `the id ${id} already exists in account ${this.identity.name}; choose another id`;
    return new SandboxError('invalid', message);
  }
}

function without(person: ResourceRecord, id: string): ResourceRecord {
  const skillsIds = person.skillsIds.filter((each) => each !== id);
  return { ...person, skillsIds, roleId: person.roleId === id ? null : person.roleId };
}

const processPart = randomBytes(5).toString('hex');
let counter = randomBytes(3).readUIntBE(0, 3);

/** A creation at `nowMs`, with an id that is unique across processes: the seconds, a part of the process, a counter. */
export function createdAt(nowMs: number): Fresh {
  counter = (counter + 1) % 0x1000000;
  const seconds = Math.floor(nowMs / 1000) % 0x100000000;
  const id = seconds.toString(16).padStart(8, '0') + processPart + counter.toString(16).padStart(6, '0');
  return { id, createDate: new Date(nowMs).toISOString() };
}

/** The id and date of a seeded object: they depend on the seed only, so that it always gives the same bytes. */
function seeded(position: number, ...parts: readonly string[]): Fresh {
  const id = createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 24);
  return { id, createDate: new Date(Date.UTC(2026, 0, 5, 8) + position * 1000).toISOString() };
}

/** The account of this name. Throws `SandboxError` (`not_found`) with the existing names. */
export function accountNamed(accounts: readonly Account[], name: string): Account {
  const account = accounts.find(({ identity }) => identity.name === name);
  if (account !== undefined) return account;
  const names = accounts.map(({ identity }) => identity.name).join(', ');
  throw new SandboxError('not_found', `no account is named ${name}; the accounts are ${names}`);
}

/**
 * The accounts of the data file. A new file first receives the accounts of the seed. Then accounts are generated until
 * there are `atLeast`: `account-n` with `sandbox-token-n`; their regions alternate. Throws `SandboxError` if two accounts
 * would have the same name or token.
 */
export function openAccounts(data: DataFile, seed: Seed, atLeast: number): readonly Account[] {
  return data.transaction(() => {
    const accounts = data.records('', 'account').map((identity) => new Account(identity, data));
    if (accounts.length === 0)
      for (const given of seed.accounts) accounts.push(seededAccount(data, given, accounts));
    while (accounts.length < atLeast) {
      const at = accounts.length;
      const region = REGIONS[at % REGIONS.length] ?? 'us';
      const generated = { name: `account-${at + 1}`, region, skills: [], roles: [], resources: [] };
      accounts.push(seededAccount(data, generated, accounts));
    }
    return accounts;
  });
}

function seededAccount(data: DataFile, seed: SeedAccount, others: readonly Account[]): Account {
  const { name, region, id = `sandbox-account-${others.length + 1}` } = seed;
  const { token = `sandbox-token-${others.length + 1}` } = seed;
  const same = others.find(({ identity }) => identity.name === name || identity.token === token)?.identity;
  if (same !== undefined) {
    const what = same.name === name ? 'name' : 'token';
    const problem = `accounts ${same.name} and ${name} would have the same ${what}; give one its own`;
    throw new SandboxError('invalid', problem);
  }
  data.put('', 'account', { name, id, token, region });
  const account = new Account({ name, id, token, region }, data);
  for (const kind of KINDS) {
    const seen = new Map<string, number>();
    for (const [position, entry] of (kind === 'skill' ? seed.skills : seed.roles).entries()) {
      const occurrence = seen.get(entry.name) ?? 0;
      seen.set(entry.name, occurrence + 1);
      account.addEntry(kind, { ...seeded(position, name, kind, entry.name, String(occurrence)), ...entry });
    }
  }
  const idOf = account.idsByName();
  for (const [position, person] of seed.resources.entries())
    account.addResource(person, seeded(position, name, 'resource', String(position)), idOf);
  return account;
}
