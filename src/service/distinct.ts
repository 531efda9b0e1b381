// Merges repeated objects of a list: several objects with one `_id` are one entry or one person.
import { firstFew } from '../core/amounts.ts';
import type { Entry, Resource, Warning } from '../core/catalog.ts';
import { compareCodePoints } from '../core/names.ts';
import type { Listing } from '../core/ports/service.ts';
import { malformed } from './list.ts';

/** A list that repeats an object more often is considered broken. */
const MOST_REPETITIONS = 20;

/**
 * The distinct objects in the order of their first occurrence, with a warning if some were repeated. `merge` combines the
 * objects with the same id; its result must not depend on their order. Throws ServiceError `malformed` if an object is
 * repeated too often.
 */
export function distinct<T extends { readonly id: string }>(
  what: string,
  items: readonly T[],
  merge: (first: T, others: readonly T[]) => T,
): Listing<T> {
  const byId = new Map<string, T>();
  const repeated = new Map<string, T[]>();
  for (const item of items) {
    if (!byId.has(item.id)) {
      byId.set(item.id, item);
      continue;
    }
    const others = repeated.get(item.id) ?? [];
    others.push(item);
    if (others.length >= MOST_REPETITIONS)
      throw malformed(`${what} has one _id more than ${MOST_REPETITIONS} times`);
    repeated.set(item.id, others);
  }
  for (const [id, others] of repeated) {
    const first = byId.get(id);
    if (first !== undefined) byId.set(id, merge(first, others));
  }
  return { items: [...byId.values()], warnings: repetitions(what, [...repeated.keys()].sort()) };
}

/** An entry that is listed several times has all its listed names; their order in the list has no effect. */
export function mergeEntries(first: Entry, others: readonly Entry[]): Entry {
  const kept = others.reduce(
    (best, entry) => (compareCodePoints(best.name, entry.name) <= 0 ? best : entry),
    first,
  );
  const names = new Set([first, ...others].map(({ name }) => name));
  names.delete(kept.name);
  return names.size === 0 ? kept : { ...kept, otherNames: [...names].sort(compareCodePoints) };
}

/** A person who is listed several times has all listed skills and roles. Too many can only prevent a delete. */
export function mergePeople(first: Resource, others: readonly Resource[]): Resource {
  const all = [first, ...others];
  const skillsIds = [...new Set(all.flatMap((person) => person.skillsIds ?? []))].sort();
  const roleIds = all.map(({ roleId }) => roleId).filter((id) => typeof id === 'string');
  const [roleId, ...otherRoleIds] = [...new Set(roleIds)].sort();
  const raws = all.map(({ raw }) => ({ raw, json: JSON.stringify(raw) }));
  const { raw } = raws.reduce((best, each) => (compareCodePoints(best.json, each.json) <= 0 ? best : each));
  return {
    ...Object.assign({}, ...all.toReversed()),
    raw,
    ...(skillsIds.length > 0 ? { skillsIds } : {}),
    ...(roleId === undefined ? {} : { roleId }),
    ...(otherRoleIds.length > 0 ? { otherRoleIds } : {}),
  };
}

function repetitions(what: string, ids: readonly string[]): Warning[] {
  if (ids.length === 0) return [];
  return [
    {
      code: 'repeated_id',
      message: `${what} repeats ${ids.length === 1 ? 'an _id' : `${ids.length} _ids`}: ${firstFew(ids, 5)}; each is counted once`,
    },
  ];
}
