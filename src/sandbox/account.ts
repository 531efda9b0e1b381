// One account of the sandbox: its skills, roles and resources, and the effects of a delete.

import type { DataFile } from './data-file.ts';
import {
  type AccountContents,
  type AccountIdentity,
  type Kind,
  KINDS,
  type ResourceRecord,
  type SandboxEntry,
  type SandboxResource,
} from './model.ts';
import { EntryStore } from './entry-store.ts';
import { newId } from './random.ts';
import { SandboxError } from './check.ts';

/** Requests are served from memory. Each change is written to the data file before a request can see it. */
export class Account {
  readonly identity: AccountIdentity;
  readonly entries: Readonly<Record<Kind, EntryStore>> = { skill: new EntryStore(), role: new EntryStore() };
  /** Increases with each change of a resource, so that a cached list can be checked. */
  resourcesRevision = 0;
  private readonly people = new Map<string, ResourceRecord>();
  private readonly data: DataFile;

  constructor(identity: AccountIdentity, data: DataFile) {
    this.identity = identity;
    this.data = data;
    for (const kind of KINDS)
      for (const entry of data.records(identity.name, kind)) this.entries[kind].add(entry);
    for (const person of data.records(identity.name, 'resource')) this.people.set(person.id, person);
  }

  resources(): ResourceRecord[] {
    return [...this.people.values()];
  }

  /** The entry with this id, and its kind. Ids are unique across both kinds. */
  find(id: string): { readonly kind: Kind; readonly entry: SandboxEntry } | undefined {
    for (const kind of KINDS) {
      const entry = this.entries[kind].get(id);
      if (entry !== undefined) return { kind, entry };
    }
    return undefined;
  }

  addEntry(kind: Kind, entry: SandboxEntry, visibleFromMs?: number): void {
    if (this.find(entry.id) !== undefined) throw this.alreadyExists(entry.id);
    this.data.put(this.identity.name, kind, entry);
    this.entries[kind].add(entry, visibleFromMs);
  }

  renameEntry(id: string, name: string): SandboxEntry {
    const { kind, entry } = this.require(id);
    const renamed = { ...entry, name };
    this.data.put(this.identity.name, kind, renamed);
    this.entries[kind].replace(renamed);
    return renamed;
  }

  /** Deletes an entry. A deleted skill is removed from all resources, a deleted role is unassigned from them. */
  removeEntry(id: string, shownUntilMs?: number): void {
    const { kind } = this.require(id);
    const holders = this.resources().filter((person) =>
      kind === 'skill' ? person.skillsIds.includes(id) : person.roleId === id,
    );
    const changed = holders.map((person) => without(person, kind, id));
    this.data.transaction(() => {
      this.data.remove(this.identity.name, kind, id);
      for (const person of changed) this.data.put(this.identity.name, 'resource', person);
    });
    for (const person of changed) this.people.set(person.id, person);
    if (changed.length > 0) this.resourcesRevision += 1;
    this.entries[kind].remove(id, shownUntilMs);
  }

  addResource(resource: ResourceRecord): SandboxResource {
    if (this.people.has(resource.id)) throw this.alreadyExists(resource.id);
    return this.put(resource);
  }

  removeResource(id: string): void {
    this.requirePerson(id);
    this.data.remove(this.identity.name, 'resource', id);
    this.people.delete(id);
    this.resourcesRevision += 1;
  }

  /** Adds a skill to a person, or replaces the person's role. */
  assign(resourceId: string, entryId: string): SandboxResource {
    const person = this.requirePerson(resourceId);
    if (this.require(entryId).kind === 'role') return this.put({ ...person, roleId: entryId });
    return this.put({ ...person, skillsIds: [...new Set([...person.skillsIds, entryId])] });
  }

  /** Removes a skill or the role from a person. The id may be one that no entry has. */
  unassign(resourceId: string, entryId: string): SandboxResource {
    const person = this.requirePerson(resourceId);
    return this.put(without(without(person, 'skill', entryId), 'role', entryId));
  }

  /** One person. Throws `SandboxError` (`not_found`). */
  person(resourceId: string): SandboxResource {
    return this.named(this.requirePerson(resourceId));
  }

  contents(): AccountContents {
    return {
      skills: this.entries.skill.all(),
      roles: this.entries.role.all(),
      resources: this.resources().map((person) => this.named(person)),
    };
  }

  private put(person: ResourceRecord): SandboxResource {
    this.data.put(this.identity.name, 'resource', person);
    this.people.set(person.id, person);
    this.resourcesRevision += 1;
    return this.named(person);
  }

  private named(person: ResourceRecord): SandboxResource {
    const role = person.roleId === null ? undefined : this.entries.role.get(person.roleId);
    const skills = person.skillsIds.map((id) => this.entries.skill.get(id)?.name);
    return { ...person, role: role?.name ?? null, skills: skills.filter((name) => name !== undefined) };
  }

  private require(id: string): { readonly kind: Kind; readonly entry: SandboxEntry } {
    const found = this.find(id);
    if (found !== undefined) return found;
    throw new SandboxError('not_found', `account ${this.identity.name} has no entry with the id ${id}`);
  }

  private alreadyExists(id: string): SandboxError {
    const message = `the id ${id} already exists in account ${this.identity.name}; choose another id`;
    return new SandboxError('invalid', message);
  }

  private requirePerson(id: string): ResourceRecord {
    const person = this.people.get(id);
    if (person !== undefined) return person;
    throw new SandboxError('not_found', `account ${this.identity.name} has no resource with the id ${id}`);
  }
}

function without(person: ResourceRecord, kind: Kind, id: string): ResourceRecord {
  if (kind === 'role') return person.roleId === id ? { ...person, roleId: null } : person;
  return { ...person, skillsIds: person.skillsIds.filter((each) => each !== id) };
}

/** A new entry, created at `nowMs`. */
export function newEntry(name: string, nowMs: number): SandboxEntry {
  return { id: newId(nowMs), name, createDate: new Date(nowMs).toISOString() };
}
