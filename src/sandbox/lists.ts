// The three lists, kept as bytes for as long as nothing changes: a list of ten thousand costs a few milliseconds once.

import type { Account } from './account.ts';
import { type Payload, payloadOf } from './answer.ts';
import type { Kind } from './model.ts';
import { type Random, seededRandom, shuffled } from './random.ts';
import type { SandboxSettings } from './settings.ts';
import { entryJson, resourceJson } from './wire.ts';

export type ListOf = Kind | 'resource';

interface Kept {
  readonly revision: number;
  readonly validUntilMs: number;
  readonly texts: readonly string[];
  readonly payload: Payload;
}

/** All that was written out under one set of settings; new settings start it anew. */
interface Shelved {
  readonly settings: SandboxSettings;
  readonly texts: WeakMap<object, string>;
  readonly lists: Map<string, Kept>;
  readonly random: Random;
}

function joined(texts: readonly string[]): Payload {
  return payloadOf(`[${texts.join(',')}]`);
}

/** Writes lists; each object is written once, each list once a change. */
export class ListWriter {
  private shelved: Shelved | undefined;

  /** What a GET of this list answers at this moment. */
  write(account: Account, of: ListOf, settings: SandboxSettings, nowMs: number): Payload {
    const shelved = this.under(settings);
    const kept = this.keep(shelved, account, of, nowMs);
    return settings.listOrder === 'shuffled' ? joined(shuffled(kept.texts, shelved.random)) : kept.payload;
  }

  private under(settings: SandboxSettings): Shelved {
    if (this.shelved?.settings !== settings) {
      const random = seededRandom(settings.randomSeed);
      this.shelved = { settings, texts: new WeakMap(), lists: new Map(), random };
    }
    return this.shelved;
  }

  private keep(shelved: Shelved, account: Account, of: ListOf, nowMs: number): Kept {
    const key = `${of} ${account.identity.name}`;
    const revision = of === 'resource' ? account.resourcesRevision : account.shelves[of].revision;
    const before = shelved.lists.get(key);
    if (before?.revision === revision && nowMs < before.validUntilMs) return before;
    const { texts, validUntilMs } = writeTexts(shelved, account, of, nowMs);
    const kept = { revision, validUntilMs, texts, payload: joined(texts) };
    shelved.lists.set(key, kept);
    return kept;
  }
}

function writeTexts(shelved: Shelved, account: Account, of: ListOf, nowMs: number) {
  const { identity } = account;
  const { settings, texts } = shelved;
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
  const view = account.shelves[of].view(nowMs);
  return {
    texts: view.entries.map((entry) => once(entry, (each) => entryJson(each, identity, settings, false))),
    validUntilMs: view.validUntilMs,
  };
}
