// What an answer must look like: strict where the document is firm, lenient where it is open
// (service document, section 2). Salaries end here: nothing after this file has seen one.
import type { Entry, Kind, Resource, Warning } from '../core/catalog.ts';
import { ServiceError } from '../core/errors.ts';
import type { Secret } from '../core/secret.ts';
import { isLongerThan, LONGEST_NAME } from '../core/names.ts';
import { createDistinct, mergeEntries, mergePeople } from './distinct.ts';
import { spelledNumber } from './exact-number.ts';
import type { ListBuilder } from './list.ts';
import { malformed } from './list.ts';
import { hasRepeatedKey } from './repeated-keys.ts';
import { isSalary } from './service-message.ts';

type Json = Readonly<Record<string, unknown>>;

/** The documented fields of a resource that are kept (service document, section 2.1), without `salary`. */
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

/** Those of them that are kept as they are: everything is told apart by them. */
const RESOURCE_IDS = ['_id', 'accountId', 'roleId', 'skillsIds'];

/** Takes the token out of a text. */
export type Scrub = (text: string) => string;

/** What is asked of the token while answers are read. */
export type TokenGuard = Pick<Secret, 'scrub' | 'isIn'>;

/** More skills than a person can have. */
const MOST_SKILLS = 10_000;

/** More unknown fields than these are not told apart. */
const MOST_UNKNOWN_FIELDS = 1000;

/**
 * A list of skills or roles; what it says besides the documented fields is scrubbed. Throws ServiceError `malformed`
 * when an object is no entry, or when a name or an id of it holds the token, since those are kept and shown as they are.
 */
export function entryList(kind: Kind, token: TokenGuard): ListBuilder<Entry> {
  const what = `the list of ${kind}s`;
  const entries = createDistinct<Entry>(what, mergeEntries);
  let number = 0;
  return {
    what,
    add(object, text) {
      number += 1;
      entries.add(toEntry({ what: `${what}: object number ${number}`, object, text }, token));
    },
    listing: () => entries.listing(),
  };
}

/** The list of resources, under the same conditions. Unknown fields are dropped and named once. */
export function resourceList(token: TokenGuard): ListBuilder<Resource> {
  const what = 'the list of resources';
  const resources = createDistinct<Resource>(what, mergePeople);
  const unknown = new Set<string>();
  let number = 0;
  return {
    what,
    add(object, text) {
      number += 1;
      resources.add(toResource({ what: `${what}: object number ${number}`, object, text }, unknown, token));
    },
    async listing() {
      const listing = await resources.listing();
      if (unknown.size === 0) return listing;
      const fields = new Set([...unknown].map((field) => token.scrub(field).slice(0, 60)));
      const warning: Warning = {
        code: 'unknown_fields',
        message: `resources carry fields that are not documented and were not kept: ${[...fields].sort().slice(0, 20).join(', ')}`,
      };
      return { items: listing.items, warnings: [...listing.warnings, warning] };
    },
  };
}

/**
 * The entry that a create answers with, or undefined when the answer is not one (it is doubtful then), or is one that
 * the token stands in and that therefore cannot be kept.
 */
export function parseCreated(text: string | undefined, token: TokenGuard): Entry | undefined {
  try {
    return text === undefined ? undefined : toEntry({ what: '', object: JSON.parse(text), text }, token);
  } catch (error) {
    if (error instanceof ServiceError || error instanceof SyntaxError || error instanceof RangeError)
      return undefined;
    throw error;
  }
}

/** An object of a list: how a message names it, what it holds, and its JSON. */
interface ListedObject {
  readonly what: string;
  readonly object: unknown;
  readonly text: string;
}

function toEntry(listed: ListedObject, token: TokenGuard): Entry {
  const { what } = listed;
  const object = withExactId(listed);
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

function toResource(listed: ListedObject, unknown: Set<string>, token: TokenGuard): Resource {
  const { what } = listed;
  const object = withExactId(listed);
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
    else if (RESOURCE_FIELDS.includes(field)) {
      refuseLong(what, { [field]: value });
      raw[field] = scrubbedValue(withoutSalaryDeep(value), (text) => token.scrub(text));
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

/** The object, which has each field once, with an account id that is a number as the text that spells it: a rounded one is another account's. */
function withExactId({ what, object, text }: ListedObject): Json {
  if (!isObject(object)) throw malformed(`${what} is not an object`);
  if (hasRepeatedKey(object, text)) throw malformed(`${what} has the same field twice`);
  if (typeof object['accountId'] !== 'number') return object;
  const spelled = spelledNumber(text, 'accountId');
  if (spelled === undefined || !/^-?[0-9]+$/.test(spelled))
    throw malformed(`${what} has an accountId that is not a whole number`);
  return Number.isSafeInteger(object['accountId']) ? object : { ...object, accountId: spelled };
}

/** Names, ids and dates are kept, compared and shown: one without bound would be a burden for every later step. */
function refuseLong(what: string, fields: Json): void {
  for (const [field, value] of Object.entries(fields)) {
    if (typeof value === 'string' && isLongerThan(value, LONGEST_NAME))
      throw malformed(`${what} has a ${field} of more than ${LONGEST_NAME} characters`);
  }
}

function idOf(what: string, object: Json): string {
  const id = object['_id'];
  if (typeof id === 'string' && LONE_SURROGATE.test(id))
    throw malformed(`${what} has an _id that is no Unicode text`);
  if (typeof id !== 'string' || id === '') throw malformed(`${what} has no _id that is a text`);
  return id;
}

/** What neither a path nor the store could hold. */
const LONE_SURROGATE = /\p{Surrogate}/u;

/** Names and ids are kept and shown as they are, so that one with the token in it would tell it to everybody. */
function refuseToken(what: string, values: readonly unknown[], token: TokenGuard): void {
  if (values.some((value) => typeof value === 'string' && token.isIn(value)))
    throw malformed(`${what} has the token itself as a name or an id; change that name or id in the service`);
}

const ENTRY_FIELDS = ['_id', 'accountId', 'name', 'createDate'];

/** An entry for the snapshot: the documented fields as they are, everything else without token and salary. */
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

function isStrings(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

function isId(value: unknown): value is string | number {
  return (typeof value === 'string' && value !== '') || typeof value === 'number';
}
