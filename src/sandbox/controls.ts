// The controls of a running sandbox: changes that the public API does not offer.

import { type Account, newEntry } from './account.ts';
import { z } from 'zod';
import { aNonEmptyString, parseAs, SandboxError } from './check.ts';
import { type Fault, parseFaults } from './faults.ts';
import { newId } from './random.ts';
import type { AccountContents, AccountIdentity, Kind, SandboxEntry, SandboxResource } from './model.ts';
import type { LoggedRequest } from './request-log.ts';
import { resourceSchema, type SeedResource } from './seed.ts';
import type { Service } from './serve.ts';
import { changeSettings, type SandboxSettings } from './settings.ts';
import { makeResource } from './accounts.ts';

/** An id or a creation date chosen by the caller. */
interface EntryChoice {
  readonly id?: string;
  readonly createDate?: string;
}

const moveSchema = z.strictObject({
  take: z.array(aNonEmptyString).default([]),
  give: z.array(aNonEmptyString).default([]),
});

/**
 * Each control throws `SandboxError` (`not_found`, `invalid`) and takes effect at once: `listDelayMs` does not apply.
 * The settings for names (unique, trimmed …) apply to the API only, not to the controls.
 */
export interface SandboxControls {
  /** What the account contains now, also while `listDelayMs` still hides it from the lists. */
  state(account: string): AccountContents;
  addSkill(account: string, name: string, choice?: EntryChoice): SandboxEntry;
  addRole(account: string, name: string, choice?: EntryChoice): SandboxEntry;
  /** Deletes an entry, also from all resources, like a delete through the API. */
  removeEntry(account: string, entryId: string): void;
  /** Renames an entry and keeps its id, as somebody can on the pages of the service. */
  renameEntry(account: string, entryId: string, name: string): SandboxEntry;
  assign(account: string, resourceId: string, entryId: string): SandboxResource;
  unassign(account: string, resourceId: string, entryId: string): SandboxResource;
  addResource(account: string, resource?: SeedResource): SandboxResource;
  removeResource(account: string, resourceId: string): void;
  /** Replaces all fault rules and resets their counts. */
  setFaults(faults: readonly Fault[]): void;
  /** The fault rules, and how often each has acted. */
  faults(): { readonly faults: readonly Fault[]; readonly acted: readonly number[] };
  /** Changes the given settings and keeps the others. */
  setSettings(settings: Partial<SandboxSettings>): void;
  settings(): SandboxSettings;
  /** The requests since the start or since `clearRequests`, oldest first, without tokens. */
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

/** Takes entries from a person and gives others, by name or id: all of them, or none if one does not exist. */
export function movePerson(account: Account, resourceId: string, given: unknown): SandboxResource {
  const { take, give } = parseAs(moveSchema, given, 'body');
  const { skills, roles } = account.contents();
  const idOf = (name: string): string => {
    const found = [...skills, ...roles].find((entry) => entry.name === name || entry.id === name);
    if (found !== undefined) return found.id;
    throw new SandboxError('not_found', `account ${account.identity.name} has no skill or role “${name}”`);
  };
  const [taken, added] = [take.map(idOf), give.map(idOf)];
  for (const id of taken) account.unassign(resourceId, id);
  for (const id of added) account.assign(resourceId, id);
  return account.person(resourceId);
}

function addResource(account: Account, given: SeedResource): SandboxResource {
  const resource = parseAs(resourceSchema, given, 'resource');
  const nowMs = Date.now();
  const defaults = { id: newId(nowMs), createDate: new Date(nowMs).toISOString() };
  return account.addResource(makeResource(account, resource, defaults));
}

function refuseUnknownAccounts(
  settings: Partial<SandboxSettings>,
  accounts: readonly AccountIdentity[],
): void {
  const names = new Set(accounts.map((account) => account.name));
  const unknown = Object.keys(settings.listedAccountId ?? {}).filter((name) => !names.has(name));
  if (unknown.length === 0) return;
  const message = `settings.listedAccountId: no account is named ${unknown.join(', ')}; the accounts are ${[...names].join(', ')}`;
  throw new SandboxError('invalid', message);
}

/** The controls of a service. */
export function controlsOf(service: Service): SandboxControls {
  const { accounts, faults, log } = service;
  return {
    state: (account) => accounts.get(account).contents(),
    addSkill: (account, name, choice = {}) => addEntry(accounts.get(account), 'skill', name, choice),
    addRole: (account, name, choice = {}) => addEntry(accounts.get(account), 'role', name, choice),
    removeEntry: (account, entryId) => accounts.get(account).removeEntry(entryId),
    renameEntry: (account, entryId, name) => accounts.get(account).renameEntry(entryId, name),
    assign: (account, resourceId, entryId) => accounts.get(account).assign(resourceId, entryId),
    unassign: (account, resourceId, entryId) => accounts.get(account).unassign(resourceId, entryId),
    addResource: (account, resource = {}) => addResource(accounts.get(account), resource),
    removeResource: (account, resourceId) => accounts.get(account).removeResource(resourceId),
    setFaults: (rules) => faults.replace(parseFaults(rules), service.settings.randomSeed),
    faults: () => faults.list(),
    setSettings: (settings) => {
      const changed = changeSettings(service.settings, settings);
      refuseUnknownAccounts(
        settings,
        accounts.all.map((account) => account.identity),
      );
      service.settings = changed;
    },
    settings: () => service.settings,
    requests: () => log.list(),
    clearRequests: () => log.clear(),
  };
}
