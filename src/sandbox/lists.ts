// Writes entries, resources and the three lists as the JSON of the API. The bytes of a list are cached until something
// changes, so that long lists are fast.
import type { AccountIdentity, ResourceRecord, SandboxEntry, Kind } from './model.ts';
import type { SandboxSettings } from './settings.ts';
import type { Account } from './account.ts';
import { type Payload, payloadOf } from './send.ts';
import { type Random, seededRandom, shuffled } from './random.ts';

export type ListOf = Kind | 'resource';

interface CachedList {
  readonly revision: number;
  readonly validUntilMs: number;
  readonly texts: readonly string[];
  readonly payload: Payload;
}

/** The cached texts for one set of settings. New settings replace the cache. */
interface ListCache {
  readonly settings: SandboxSettings;
  readonly texts: WeakMap<object, string>;
  readonly lists: Map<string, CachedList>;
  readonly random: Random;
}

function joined(texts: readonly string[]): Payload {
  return payloadOf(`[${texts.join(',')}]`);
}

/** Writes lists. Each object is serialised once, each list once per change. */
export class ListWriter {
  private cache: ListCache | undefined;

  /** The body of this list at `nowMs`. */
  write(account: Account, of: ListOf, settings: SandboxSettings, nowMs: number): Payload {
    const cache = this.cacheFor(settings);
    const list = this.cachedList(cache, account, of, nowMs);
    return settings.listOrder === 'shuffled' ? joined(shuffled(list.texts, cache.random)) : list.payload;
  }

  private cacheFor(settings: SandboxSettings): ListCache {
    if (this.cache?.settings !== settings) {
      const random = seededRandom(settings.randomSeed);
      this.cache = { settings, texts: new WeakMap(), lists: new Map(), random };
    }
    return this.cache;
  }

  private cachedList(cache: ListCache, account: Account, of: ListOf, nowMs: number): CachedList {
    const key = `${of} ${account.identity.name}`;
    const revision = of === 'resource' ? account.resourcesRevision : account.entries[of].revision;
    const cached = cache.lists.get(key);
    if (cached?.revision === revision && nowMs < cached.validUntilMs) return cached;
    const { texts, validUntilMs } = writeTexts(cache, account, of, nowMs);
    const list = { revision, validUntilMs, texts, payload: joined(texts) };
    cache.lists.set(key, list);
    return list;
  }
}

function writeTexts(cache: ListCache, account: Account, of: ListOf, nowMs: number) {
  const { identity } = account;
  const { settings, texts } = cache;
  const once = <T extends object>(item: T, write: (item: T) => string): string => {
    const known = texts.get(item);
    if (known !== undefined) return known;
    const text = write(item);
    texts.set(item, text);
    return text;
  };
  if (of === 'resource') {
    const people = account.resources();
    return {
      texts: people.map((person) => once(person, (each) => resourceJson(each, identity, settings))),
      validUntilMs: Number.POSITIVE_INFINITY,
    };
  }
  const view = account.entries[of].view(nowMs);
  return {
    texts: view.entries.map((entry) => once(entry, (each) => entryJson(each, identity, settings, false))),
    validUntilMs: view.validUntilMs,
  };
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
