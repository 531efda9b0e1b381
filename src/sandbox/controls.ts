// The hands that reach into a running sandbox from its own process: what nobody can do through the public API.

import type { Account } from './account.ts';
import { Issues } from './check.ts';
import { type Fault, parseFaults } from './faults.ts';
import { newId } from './ids.ts';
import type { AccountContents, AccountIdentity, Kind, SandboxEntry, SandboxResource } from './model.ts';
import type { LoggedRequest } from './request-log.ts';
import { SandboxError } from './sandbox-error.ts';
import { resourceCheck, type SeedResource } from './seed.ts';
import type { Service } from './serve.ts';
import { changeSettings, type SandboxSettings } from './settings.ts';
import { makeResource, newEntry } from './world.ts';

/** An id or a creation date of one's own choice. */
interface EntryChoice {
  readonly id?: string;
  readonly createDate?: string;
}

/**
 * Everything throws `SandboxError` (`not_found`, `invalid`) and takes effect at once, whatever `listDelayMs` says.
 * The rules for names (unique, trimmed …) bind the API, not these.
 */
export interface SandboxControls {
  /** What the account holds now, whatever the lists show. */
  state(account: string): AccountContents;
  addSkill(account: string, name: string, choice?: EntryChoice): SandboxEntry;
  addRole(account: string, name: string, choice?: EntryChoice): SandboxEntry;
  /** With the effects of section 3, as a delete through the API. */
  removeEntry(account: string, entryId: string): void;
  /** What the API cannot do and a person in the service's own pages can. */
  renameEntry(account: string, entryId: string, name: string): SandboxEntry;
  assign(account: string, resourceId: string, entryId: string): SandboxResource;
  unassign(account: string, resourceId: string, entryId: string): SandboxResource;
  addResource(account: string, resource?: SeedResource): SandboxResource;
  removeResource(account: string, resourceId: string): void;
  /** Replaces all rules and starts their counts anew. */
  setFaults(faults: readonly Fault[]): void;
  /** The rules, and how often each has acted. */
  faults(): { readonly faults: readonly Fault[]; readonly acted: readonly number[] };
  /** Changes these settings and leaves the others. */
  setSettings(settings: Partial<SandboxSettings>): void;
  settings(): SandboxSettings;
  /** What the service was asked since the start or `clearRequests`, oldest first, without tokens. */
  requests(): readonly LoggedRequest[];
  clearRequests(): void;
}

function addEntry(account: Account, kind: Kind, name: string, choice: EntryChoice): SandboxEntry {
  if (typeof name !== 'string' || name === '')
    throw new SandboxError('invalid', 'name: should be a string that is not empty');
  const fresh = newEntry(name, Date.now());
  const entry = { ...fresh, id: choice.id ?? fresh.id, createDate: choice.createDate ?? fresh.createDate };
  account.addEntry(kind, entry);
  return entry;
}

function addResource(account: Account, resource: SeedResource): SandboxResource {
  const issues = new Issues();
  resourceCheck(resource, 'resource', issues);
  issues.throwIfAny();
  const nowMs = Date.now();
  const defaults = { id: newId(nowMs), createDate: new Date(nowMs).toISOString() };
  return account.addResource(makeResource(account, resource, defaults));
}

function refuseStrangers(settings: Partial<SandboxSettings>, accounts: readonly AccountIdentity[]): void {
  const names = new Set(accounts.map((account) => account.name));
  const unknown = Object.keys(settings.listedAccountId ?? {}).filter((name) => !names.has(name));
  if (unknown.length === 0) return;
  const message = `settings.listedAccountId: no account is named ${unknown.join(', ')}; there are ${[...names].join(', ')}`;
  throw new SandboxError('invalid', message);
}

/** The controls of a service. */
export function controlsOf(service: Service): SandboxControls {
  const { world, faults, log } = service;
  return {
    state: (account) => world.account(account).contents(),
    addSkill: (account, name, choice = {}) => addEntry(world.account(account), 'skill', name, choice),
    addRole: (account, name, choice = {}) => addEntry(world.account(account), 'role', name, choice),
    removeEntry: (account, entryId) => world.account(account).removeEntry(entryId),
    renameEntry: (account, entryId, name) => world.account(account).renameEntry(entryId, name),
    assign: (account, resourceId, entryId) => world.account(account).assign(resourceId, entryId),
    unassign: (account, resourceId, entryId) => world.account(account).unassign(resourceId, entryId),
    addResource: (account, resource = {}) => addResource(world.account(account), resource),
    removeResource: (account, resourceId) => world.account(account).removeResource(resourceId),
    setFaults: (rules) => faults.replace(parseFaults(rules), service.settings.randomSeed),
    faults: () => faults.list(),
    setSettings: (settings) => {
      const changed = changeSettings(service.settings, settings);
      refuseStrangers(
        settings,
        world.accounts.map((account) => account.identity),
      );
      service.settings = changed;
    },
    settings: () => service.settings,
    requests: () => log.list(),
    clearRequests: () => log.clear(),
  };
}
