// Writes entries, resources and the three lists as the JSON of the API. The bytes of a list are cached until something
// changes, so that long lists are fast.
import type { AccountIdentity, ResourceRecord, SandboxEntry, Kind } from './model.ts';
import type { SandboxSettings } from './settings.ts';
import type { Account } from './account.ts';
import { type Payload, payloadOf } from './send.ts';
import { type Random, seededRandom, shuffled } from './random.ts';

export type ListOf = Kind | 'resource';

interface CachedList {
  readonly settings: SandboxSettings;
  readonly revision: number;
  readonly texts: readonly string[];
  readonly payload: Payload;
}

function joined(texts: readonly string[]): Payload {
  return payloadOf(`[${texts.join(',')}]`);
}

/** Writes lists, each once per change. */
export class ListWriter {
  private readonly cache = new Map<string, CachedList>();
  private random: { readonly seed: number; readonly next: Random } | undefined;

  /** The body of this list at `nowMs`. */
  write(account: Account, of: ListOf, settings: SandboxSettings, nowMs: number): Payload {
    const { texts, payload } = this.list(account, of, settings, nowMs);
    if (settings.listOrder !== 'shuffled') return payload;
    if (this.random?.seed !== settings.randomSeed)
      this.random = { seed: settings.randomSeed, next: seededRandom(settings.randomSeed) };
    return joined(shuffled(texts, this.random.next));
  }

  private list(account: Account, of: ListOf, settings: SandboxSettings, nowMs: number): CachedList {
    const key = `${of} ${account.identity.name}`;
    const revision = of === 'resource' ? account.resourcesRevision : account.entries[of].revision;
    const cached = this.cache.get(key);
    if (cached?.revision === revision && cached.settings === settings) return cached;
    const { texts, isSettled } = textsOf(account, of, settings, nowMs);
    const list = { settings, revision, texts, payload: joined(texts) };
    if (isSettled) this.cache.set(key, list);
    return list;
  }
}

function textsOf(account: Account, of: ListOf, settings: SandboxSettings, nowMs: number) {
  const { identity } = account;
  if (of === 'resource') {
    const texts = account.resources().map((person) => resourceJson(person, identity, settings));
    return { texts, isSettled: true };
  }
  const { entries, isSettled } = account.entries[of].view(nowMs);
  return { texts: entries.map((entry) => entryJson(entry, identity, settings, false)), isSettled };
}

function timestamp(value: string, settings: SandboxSettings): string {
  return settings.timestampsWithZone ? value : value.replace(/(?:Z|[+-]\d\d:?\d\d)$/, '');
}

function accountId(account: AccountIdentity, settings: SandboxSettings): string {
  return Object.hasOwn(settings.listedAccountId, account.name)
    ? (settings.listedAccountId[account.name] ?? account.id)
    : account.id;
}

/** A skill or role as JSON. `complete`: optional fields are always included, as in the response of a create. */
export function entryJson(
  entry: SandboxEntry,
  account: AccountIdentity,
  settings: SandboxSettings,
  complete: boolean,
): string {
  const lean = settings.omitOptionalFields && !complete;
  return JSON.stringify({
    ...(lean ? {} : { accountId: accountId(account, settings) }),
    name: entry.name,
    _id: entry.id,
    ...(lean ? {} : { createDate: timestamp(entry.createDate, settings) }),
    ...settings.extraFields,
  });
}

/** A resource as JSON. Its date is `create_date`; skills and roles have `createDate`. */
export function resourceJson(
  person: ResourceRecord,
  account: AccountIdentity,
  settings: SandboxSettings,
): string {
  const lean = settings.omitOptionalFields;
  return JSON.stringify({
    _id: person.id,
    accountId: accountId(account, settings),
    ...(lean ? {} : { create_date: timestamp(person.createDate, settings) }),
    ...(lean && person.roleId === null ? {} : { roleId: person.roleId }),
    ...(lean && person.skillsIds.length === 0 ? {} : { skillsIds: person.skillsIds }),
    workingDays: person.workingDays,
    dailyCapacity: person.dailyCapacity,
    ...(lean && person.calendarsIds.length === 0 ? {} : { calendarsIds: person.calendarsIds }),
    ...(lean && person.salary === null ? {} : { salary: person.salary }),
    ...settings.extraFields,
  });
}
