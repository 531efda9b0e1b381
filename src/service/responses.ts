// Validates and converts the objects of responses: strictly where the service documents a rule, otherwise leniently.
// Removes salaries here, so that no other code receives one.
import { firstFew } from '../core/amounts.ts';
import type { Entry, Resource, Warning } from '../core/catalog.ts';
import type { Secret } from '../core/secret.ts';
import { LONGEST_NAME, MOST_ENTRIES, MOST_PEOPLE } from '../core/limits.ts';
import { compareCodePoints, isLongerThan } from '../core/names.ts';
import type { Listing } from '../core/ports/service.ts';
import { malformed } from './body.ts';
import { isSalary } from './service-message.ts';

type Json = Readonly<Record<string, unknown>>;

/** The documented fields of a resource that are kept; `salary` is not one of them. */
const RESOURCE_FIELDS = [
  '_id',
  'accountId',
  'create_date',
  'roleId',
  'skillsIds',
  'workingDays',
  'dailyCapacity',
  'calendarsIds',
];

/** The ids among them, which are kept unchanged because they identify people and entries. */
const RESOURCE_IDS = ['_id', 'accountId', 'roleId', 'skillsIds'];

/** The methods of the token that are needed to read responses. */
export type TokenGuard = Pick<Secret, 'scrub' | 'isIn'>;

/** More skills than a person can have. */
const MOST_SKILLS = 10_000;

/** Limit for the names of unknown fields that are collected. */
const MOST_UNKNOWN_FIELDS = 1000;

/** Deeper nesting has no use, except to exhaust the stack. */
const DEEPEST_OBJECT = 32;

/** The documented fields of a skill or role. */
const ENTRY_FIELDS = ['_id', 'accountId', 'name', 'createDate'];

/**
 * A list of skills or roles; undocumented fields are scrubbed. Throws ServiceError `malformed` if an object is not an
 * entry, or if a name or id contains the token, because names and ids are stored and shown unchanged.
 */
export function toEntries(what: string, value: unknown, token: TokenGuard): Listing<Entry> {
  const entries = objectsOf(what, value, MOST_ENTRIES).map((object, at) =>
    toEntry(numbered(what, at), object, token),
  );
  return distinct(what, entries, mergeEntries);
}

/** The list of resources, with the same errors. Unknown fields are dropped, and one warning names them. */
export function toResources(what: string, value: unknown, token: TokenGuard): Listing<Resource> {
  const unknown = new Set<string>();
  const people = objectsOf(what, value, MOST_PEOPLE).map((object, at) =>
    toResource(numbered(what, at), object, unknown, token),
  );
  const listing = distinct(what, people, mergePeople);
  if (unknown.size === 0) return listing;
  const fields = new Set([...unknown].map((field) => token.scrub(field).slice(0, 60)));
  const warning: Warning = {
    code: 'unknown_fields',
    message: `resources have undocumented fields or values, which were not kept: ${[...fields].sort().slice(0, 20).join(', ')}`,
  };
  return { items: listing.items, warnings: [...listing.warnings, warning] };
}

function numbered(what: string, at: number): string {
  return `${what}: object number ${at + 1}`;
}

/** The entry of an object, which also answers a create. `what` is the name of the object in messages. */
export function toEntry(what: string, value: unknown, token: TokenGuard): Entry {
  const object = readable(what, value);
  const id = idOf(what, object);
  const { name, accountId, createDate } = object;
  refuseToken(what, [id, name, accountId, createDate], token);
  if (typeof name !== 'string') throw malformed(`${what} has no name`);
  refuseLong(what, { _id: id, name, accountId, createDate });
  return {
    id,
    name,
    ...(isId(accountId) ? { accountId: String(accountId) } : {}),
    ...(typeof createDate === 'string' ? { createDate } : {}),
    raw: rawEntry(what, object, token),
  };
}

function toResource(what: string, given: unknown, unknown: Set<string>, token: TokenGuard): Resource {
  const object = readable(what, given);
  const id = idOf(what, object);
  const { accountId, skillsIds, roleId } = object;
  if (skillsIds !== undefined && skillsIds !== null && !isStrings(skillsIds)) {
    throw malformed(`${what} has skillsIds that are not an array of strings`);
  }
  if ((skillsIds?.length ?? 0) > MOST_SKILLS) {
    throw malformed(`${what} has more than ${MOST_SKILLS} skillsIds`);
  }
  if (roleId !== undefined && roleId !== null && typeof roleId !== 'string') {
    throw malformed(`${what} has a roleId that is not a string`);
  }
  refuseToken(what, [id, accountId, roleId, ...(skillsIds ?? [])], token);
  refuseLong(what, { _id: id, accountId, roleId });
  for (const skillId of skillsIds ?? []) refuseLong(what, { skillsIds: skillId });
  const raw: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(object)) {
    if (RESOURCE_IDS.includes(field) && (typeof value !== 'object' || field === 'skillsIds'))
      raw[field] = value;
    else if (RESOURCE_FIELDS.includes(field) && isPlain(value)) {
      refuseLong(what, { [field]: value });
      raw[field] = cleanedValue(value, token);
    } else if (!unknown.has(field) && unknown.size < MOST_UNKNOWN_FIELDS && !isSalary(field))
      unknown.add(field);
  }
  return {
    id,
    ...(isId(accountId) ? { accountId: String(accountId) } : {}),
    ...(isStrings(skillsIds) ? { skillsIds } : {}),
    ...(roleId === undefined ? {} : { roleId }),
    raw,
  };
}

/** The objects of a list, of which there may be this many. */
function objectsOf(what: string, value: unknown, most: number): readonly unknown[] {
  if (!Array.isArray(value)) throw malformed(`${what} is not an array`);
  if (value.length > most) throw malformed(`${what} has more than ${most} objects`);
  return value;
}

function readable(what: string, object: unknown): Json {
  if (!isObject(object)) throw malformed(`${what} is not an object`);
  const { accountId } = object;
  // JavaScript rounds larger numbers, and a rounded one may be the id of another account.
  if (typeof accountId === 'number' && !Number.isSafeInteger(accountId))
    throw malformed(`${what} has an accountId that is neither a text nor an exact whole number`);
  return object;
}

/** Limits the nesting of what is copied level by level. */
function refuseDeep(what: string, value: object, level = 1): void {
  if (level > DEEPEST_OBJECT) throw malformed(`${what} is nested more than ${DEEPEST_OBJECT} levels deep`);
  for (const inner of Object.values(value))
    if (typeof inner === 'object' && inner !== null) refuseDeep(what, inner, level + 1);
}

/** Limits the length of names, ids and dates, because they are stored, compared and shown. */
function refuseLong(what: string, fields: Json): void {
  for (const [field, value] of Object.entries(fields)) {
    if (typeof value === 'string' && isLongerThan(value, LONGEST_NAME))
      throw malformed(`${what} has a ${field} of more than ${LONGEST_NAME} characters`);
  }
}

function idOf(what: string, object: Json): string {
  const id = object['_id'];
  if (typeof id !== 'string' || id === '') throw malformed(`${what} has no _id, or one that is not a text`);
  // It is sent back, and may have lost what was not valid Unicode.
  if (id.includes('\u{fffd}')) throw malformed(`${what} has an _id that is not valid Unicode`);
  return id;
}

/** Names and ids are stored and shown unchanged, so one that contains the token would reveal it. */
function refuseToken(what: string, values: readonly unknown[], token: TokenGuard): void {
  if (values.some((value) => typeof value === 'string' && token.isIn(value)))
    throw malformed(
      `${what} has the token in a name or an id; change that name or id in the service, and renew the token`,
    );
}

/** An entry for the snapshot: documented fields unchanged, other fields without the token and salaries. */
function rawEntry(what: string, object: Json, token: TokenGuard): Json {
  const known = Object.entries(object).filter(
    ([field, value]) => ENTRY_FIELDS.includes(field) && (typeof value !== 'object' || value === null),
  );
  if (known.length === Object.keys(object).length) return object;
  refuseDeep(what, object);
  return { ...cleaned(object, token), ...Object.fromEntries(known) };
}

/** Without the token and salaries, at any depth. */
function cleaned(object: Json, token: TokenGuard): Json {
  const kept = Object.entries(object).filter(([field]) => !isSalary(field));
  return Object.fromEntries(kept.map(([field, value]) => [token.scrub(field), cleanedValue(value, token)]));
}

function cleanedValue(value: unknown, token: TokenGuard): unknown {
  if (typeof value === 'string') return token.scrub(value);
  if (Array.isArray(value)) return value.map((item) => cleanedValue(item, token));
  return isObject(value) ? cleaned(value, token) : value;
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether a value is a text, a number or a list of these, as the service documents them; an object may be a salary. */
function isPlain(value: unknown): boolean {
  return (Array.isArray(value) ? value : [value]).every((item) => typeof item !== 'object' || item === null);
}

function isStrings(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

function isId(value: unknown): value is string | number {
  return (typeof value === 'string' && value !== '') || typeof value === 'number';
}

/** A list that repeats an object more often is considered broken. */
const MOST_REPETITIONS = 20;

/**
 * The distinct objects in the order of their first occurrence, with a warning if some were repeated. `merge` combines the
 * objects with the same id; its result must not depend on their order. Throws ServiceError `malformed` if an object is
 * repeated too often.
 */
function distinct<T extends { readonly id: string }>(
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
function mergeEntries(first: Entry, others: readonly Entry[]): Entry {
  const kept = others.reduce(
    (best, entry) => (compareCodePoints(best.name, entry.name) <= 0 ? best : entry),
    first,
  );
  const names = new Set([first, ...others].map(({ name }) => name));
  names.delete(kept.name);
  return names.size === 0 ? kept : { ...kept, otherNames: [...names].sort(compareCodePoints) };
}

/** A person who is listed several times has all listed skills and roles. Too many can only prevent a delete. */
function mergePeople(first: Resource, others: readonly Resource[]): Resource {
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
