// Validates and converts the objects of responses: strictly where the service documents a rule, otherwise leniently.
// Removes salaries here, so that no other code receives one.
import type { Entry, Kind, Resource, Warning } from '../core/catalog.ts';
import type { Secret } from '../core/secret.ts';
import { isLongerThan, LONGEST_NAME, wellFormed } from '../core/names.ts';
import { createDistinct, mergeEntries, mergePeople } from './distinct.ts';
import { type ListBuilder, type ListedObject, malformed } from './list.ts';
import { isSalary, type Scrub } from './service-message.ts';

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

/** The JSON of an object that may contain a lone surrogate, which only an escape can write. */
const SURROGATE_ESCAPE = /\\ud[89a-f]/i;

/** The documented fields of a skill or role. */
const ENTRY_FIELDS = ['_id', 'accountId', 'name', 'createDate'];

/**
 * A list of skills or roles; undocumented fields are scrubbed. Throws ServiceError `malformed` if an object is not an
 * entry, or if a name or id contains the token, because names and ids are stored and shown unchanged.
 */
export function entryList(kind: Kind, token: TokenGuard): ListBuilder<Entry> {
  const what = `the list of ${kind}s`;
  const entries = createDistinct<Entry>(what, mergeEntries);
  let number = 0;
  return {
    what,
    add(listed) {
      number += 1;
      entries.add(toEntry(`${what}: object number ${number}`, listed, token));
    },
    listing: () => entries.listing(),
  };
}

/** The list of resources, with the same errors. Unknown fields are dropped, and one warning names them. */
export function resourceList(token: TokenGuard): ListBuilder<Resource> {
  const what = 'the list of resources';
  const resources = createDistinct<Resource>(what, mergePeople);
  const unknown = new Set<string>();
  let number = 0;
  return {
    what,
    add(listed) {
      number += 1;
      resources.add(toResource(`${what}: object number ${number}`, listed, unknown, token));
    },
    async listing() {
      const listing = await resources.listing();
      if (unknown.size === 0) return listing;
      const fields = new Set([...unknown].map((field) => token.scrub(field).slice(0, 60)));
      const warning: Warning = {
        code: 'unknown_fields',
        message: `resources have undocumented fields or values, which were not kept: ${[...fields].sort().slice(0, 20).join(', ')}`,
      };
      return { items: listing.items, warnings: [...listing.warnings, warning] };
    },
  };
}

/** `what` is the name of the object in messages. */
function toEntry(what: string, listed: ListedObject, token: TokenGuard): Entry {
  const object = readable(what, listed);
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
    raw: rawEntry(object, token),
  };
}

function toResource(what: string, listed: ListedObject, unknown: Set<string>, token: TokenGuard): Resource {
  const object = readable(what, listed);
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
      raw[field] = scrubbedValue(value, (text) => token.scrub(text));
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

/** The object with well-formed texts; an `_id` must be well-formed, because it is sent back. */
function readable(what: string, { object, text, fields }: ListedObject): Json {
  if (!isObject(object)) throw malformed(`${what} is not an object`);
  if (fields !== Object.keys(object).length) throw malformed(`${what} has the same field twice`);
  const { accountId, _id: id } = object;
  // JavaScript rounds larger numbers, and a rounded one may be the id of another account.
  if (typeof accountId === 'number' && !Number.isSafeInteger(accountId))
    throw malformed(`${what} has an accountId that is neither a text nor an exact whole number`);
  if (!SURROGATE_ESCAPE.test(text)) return object;
  if (typeof id === 'string' && wellFormed(id) !== id)
    throw malformed(`${what} has an _id that is not valid Unicode`);
  return scrubbed(object, wellFormed);
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
function rawEntry(object: Json, token: TokenGuard): Json {
  const known = Object.entries(object).filter(
    ([field, value]) => ENTRY_FIELDS.includes(field) && (typeof value !== 'object' || value === null),
  );
  if (known.length === Object.keys(object).length) return object;
  return { ...scrubbed(withoutSalary(object), (text) => token.scrub(text)), ...Object.fromEntries(known) };
}

function scrubbed(object: Json, scrub: Scrub): Json {
  return Object.fromEntries(
    Object.entries(object).map(([field, value]) => [scrub(field), scrubbedValue(value, scrub)]),
  );
}

function scrubbedValue(value: unknown, scrub: Scrub): unknown {
  if (typeof value === 'string') return scrub(value);
  if (Array.isArray(value)) return value.map((item) => scrubbedValue(item, scrub));
  return isObject(value) ? scrubbed(value, scrub) : value;
}

function withoutSalary(object: Json): Json {
  return Object.fromEntries(
    Object.entries(object)
      .filter(([field]) => !isSalary(field))
      .map(([field, value]) => [field, withoutSalaryDeep(value)]),
  );
}

function withoutSalaryDeep(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSalaryDeep);
  return isObject(value) ? withoutSalary(value) : value;
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
