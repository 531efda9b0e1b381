// Writes the three lists and caches their bytes until something changes, so that long lists are fast.

import type { Account } from './account.ts';
import { type Payload, payloadOf } from './response.ts';
import type { Kind } from './model.ts';
import { type Random, seededRandom, shuffled } from './random.ts';
import type { SandboxSettings } from './settings.ts';
import { entryJson, resourceJson } from './wire.ts';

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
