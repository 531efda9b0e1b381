// One account of the sandbox: its skills, roles and resources, and what deleting does to them.

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
import { SandboxError } from './sandbox-error.ts';
import { Shelf } from './entry-store.ts';

/** Memory is what is served; every change is written to the data file before it is seen. */
export class Account {
  readonly identity: AccountIdentity;
  readonly shelves: Readonly<Record<Kind, Shelf>> = { skill: new Shelf(), role: new Shelf() };
  /** Moves with every change of a resource. */
  resourcesRevision = 0;
  private readonly people = new Map<string, ResourceRecord>();
  private readonly data: DataFile;

  constructor(identity: AccountIdentity, data: DataFile) {
    this.identity = identity;
    this.data = data;
    for (const { kind, ...entry } of data.entries(identity.name)) this.shelves[kind].add(entry);
    for (const resource of data.resources(identity.name)) this.people.set(resource.id, resource);
  }

  resources(): ResourceRecord[] {
    return [...this.people.values()];
  }

  /** The kind and the entry behind an id. Ids are unique over both kinds. */
  find(id: string): { readonly kind: Kind; readonly entry: SandboxEntry } | undefined {
    for (const kind of KINDS) {
      const entry = this.shelves[kind].get(id);
      if (entry !== undefined) return { kind, entry };
    }
    return undefined;
  }

  addEntry(kind: Kind, entry: SandboxEntry, visibleFromMs?: number): void {
    if (this.find(entry.id) !== undefined) throw new SandboxError('invalid', `the id ${entry.id} is taken`);
    this.data.addEntry(this.identity.name, kind, entry);
    this.shelves[kind].add(entry, visibleFromMs);
  }

  renameEntry(id: string, name: string): SandboxEntry {
    const { kind } = this.require(id);
    this.data.renameEntry(this.identity.name, id, name);
    return this.shelves[kind].rename(id, name) ?? this.require(id).entry;
  }

  /** Section 3: deleting a skill removes it from all resources, deleting a role unassigns it. */
  removeEntry(id: string, shownUntilMs?: number): void {
    const { kind } = this.require(id);
    const holders = this.resources().filter((person) =>
      kind === 'skill' ? person.skillsIds.includes(id) : person.roleId === id,
    );
    const changed = holders.map((person) => without(person, kind, id));
    this.data.together(() => {
      this.data.removeEntry(this.identity.name, id);
      for (const person of changed) this.data.putResource(this.identity.name, person);
    });
    for (const person of changed) this.people.set(person.id, person);
    if (changed.length > 0) this.resourcesRevision += 1;
    this.shelves[kind].remove(id, shownUntilMs);
  }

  addResource(resource: ResourceRecord): SandboxResource {
    if (this.people.has(resource.id)) throw new SandboxError('invalid', `the id ${resource.id} is taken`);
    return this.put(resource);
  }

  removeResource(id: string): void {
    this.requirePerson(id);
    this.data.removeResource(this.identity.name, id);
    this.people.delete(id);
    this.resourcesRevision += 1;
  }

  /** Gives a person a skill, or the role instead of the one they had. */
  assign(resourceId: string, entryId: string): SandboxResource {
    const person = this.requirePerson(resourceId);
    if (this.require(entryId).kind === 'role') return this.put({ ...person, roleId: entryId });
    return this.put({ ...person, skillsIds: [...new Set([...person.skillsIds, entryId])] });
  }

  /** Takes a skill or the role off a person; also an id that no entry has. */
  unassign(resourceId: string, entryId: string): SandboxResource {
    const person = this.requirePerson(resourceId);
    return this.put(without(without(person, 'skill', entryId), 'role', entryId));
  }

  contents(): AccountContents {
    return {
      skills: this.shelves.skill.all(),
      roles: this.shelves.role.all(),
      resources: this.resources().map((person) => this.named(person)),
    };
  }

  private put(person: ResourceRecord): SandboxResource {
    this.data.putResource(this.identity.name, person);
    this.people.set(person.id, person);
    this.resourcesRevision += 1;
    return this.named(person);
  }

  private named(person: ResourceRecord): SandboxResource {
    const role = person.roleId === null ? undefined : this.shelves.role.get(person.roleId);
    const skills = person.skillsIds.map((id) => this.shelves.skill.get(id)?.name);
    return { ...person, role: role?.name ?? null, skills: skills.filter((name) => name !== undefined) };
  }

  private require(id: string): { readonly kind: Kind; readonly entry: SandboxEntry } {
    const found = this.find(id);
    if (found !== undefined) return found;
    throw new SandboxError('not_found', `account ${this.identity.name} has no entry with the id ${id}`);
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
