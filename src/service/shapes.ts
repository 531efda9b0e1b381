// What an answer must look like: strict where the document is firm, lenient where it is open
// (service document, section 2). Salaries end here: nothing after this file has seen one.
import type { Entry, Kind, Resource, Warning } from '../core/catalog.ts';
import { ServiceError } from '../core/errors.ts';
import { compareCodePoints } from '../core/names.ts';
import type { Listing } from '../core/ports.ts';
import type { Secret } from '../core/secret.ts';

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

/**
 * A list of skills or roles; what it says besides the documented fields is scrubbed. Throws ServiceError `malformed`
 * when it is anything else, or when a name or an id of it holds the token, since those are kept and shown as they are.
 */
export function parseEntries(kind: Kind, text: string | null, token: TokenGuard): Listing<Entry> {
  const what = `the list of ${kind}s`;
  const entries = parseArray(what, text).map((item, index) => toEntry(what, index, item, token));
  return unique(what, entries, mergeEntries);
}

/** The list of resources, under the same conditions. Unknown fields are dropped and named once. */
export function parseResources(text: string | null, token: TokenGuard): Listing<Resource> {
  const what = 'the list of resources';
  const unknown = new Set<string>();
  const resources = parseArray(what, text).map((item, index) =>
    toResource(what, index, item, unknown, token),
  );
  const listing = unique(what, resources, mergeResources);
  if (unknown.size === 0) return listing;
  const warning: Warning = {
    code: 'unknown_fields',
    message: `resources carry fields that are not documented and were not kept: ${[...unknown].sort().slice(0, 20).join(', ')}`,
  };
  return { items: listing.items, warnings: [...listing.warnings, warning] };
}

/**
 * The entry that a create answers with, or undefined when the answer is not one (it is doubtful then), or is one that
 * the token stands in and that therefore cannot be kept.
 */
export function parseCreated(text: string | null, token: TokenGuard): Entry | undefined {
  const value = text === null ? undefined : parseJson(text);
  if (!isObject(value) || !isEntryId(value['_id'])) return undefined;
  if (typeof value['name'] !== 'string') return undefined;
  const known = ENTRY_FIELDS.map((field) => value[field]);
  if (holdsToken(known, token)) return undefined;
  return toEntry('the answer', 0, value, token);
}

/**
 * The messages of a validation error (service document, section 7), and nothing else: what an answer of any other
 * shape says could quote a salary or worse.
 */
export function errorMessage(text: string, scrub: Scrub): string | undefined {
  const value = parseJson(text);
  if (!isObject(value) || !Array.isArray(value['detail'])) return undefined;
  const messages = value['detail'].flatMap((item) => (isObject(item) ? describe(item) : []));
  // Scrubbed after parsing: JSON has several spellings of one text.
  return messages.length === 0 ? undefined : onOneLine(scrub(messages.join('; '))).slice(0, 300);
}

/** Messages stand in lines of their own, which a line break of a stranger's would forge. */
function onOneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ');
}

/** `loc: msg`, or the `type` where the message quotes what it should not. */
function describe(item: Json): string[] {
  const said = [item['msg'], item['type']].find((text) => typeof text === 'string' && !isSalary(text));
  if (typeof said !== 'string') return [];
  const loc = isStrings(item['loc']) ? item['loc'].join('.') : '';
  return [loc === '' || isSalary(loc) ? said : `${loc}: ${said}`];
}

function parseArray(what: string, text: string | null): unknown[] {
  if (text === null) throw malformed(`${what} cannot be unpacked, or is not UTF-8`);
  const value = parseJson(text);
  if (value === undefined) throw malformed(`${what} is ${notJson(text)}`);
  if (!Array.isArray(value)) throw malformed(`${what} is not an array`);
  return value;
}

/** A page of HTML is what a proxy, a sign-in or a wrong base address answers with. */
function notJson(text: string): string {
  return /^\s*</.test(text)
    ? 'a web page and not JSON: check the base address and any proxy'
    : `not JSON (${text.length} characters)`;
}

/** undefined for what does not parse; the parser's own message is dropped, since it quotes the text. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function toEntry(what: string, index: number, item: unknown, token: TokenGuard): Entry {
  const { object, id } = identified(what, index, item);
  const { name, accountId, createDate } = object;
  refuseToken(what, index, [id, name, accountId, createDate], token);
  if (typeof name !== 'string') throw malformed(`${what}: object number ${index + 1} has no name`);
  return {
    id,
    name,
    ...(isId(accountId) ? { accountId: String(accountId) } : {}),
    ...(typeof createDate === 'string' ? { createDate } : {}),
    raw: rawEntry(object, token),
  };
}

function toResource(
  what: string,
  index: number,
  item: unknown,
  unknown: Set<string>,
  token: TokenGuard,
): Resource {
  const { object, id } = identified(what, index, item);
  const { accountId, skillsIds, roleId } = object;
  if (skillsIds !== undefined && skillsIds !== null && !isStrings(skillsIds)) {
    throw malformed(`${what}: object number ${index + 1} has skillsIds that are not an array of strings`);
  }
  if (roleId !== undefined && roleId !== null && typeof roleId !== 'string') {
    throw malformed(`${what}: object number ${index + 1} has a roleId that is not a string`);
  }
  refuseToken(what, index, [id, accountId, roleId, ...(skillsIds ?? [])], token);
  const raw: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(object)) {
    if (RESOURCE_IDS.includes(field) && (typeof value !== 'object' || field === 'skillsIds'))
      raw[field] = value;
    else if (RESOURCE_FIELDS.includes(field))
      raw[field] = scrubbedValue(withoutSalaryDeep(value), (text) => token.scrub(text));
    else if (!isSalary(field)) unknown.add(token.scrub(field).slice(0, 60));
  }
  return {
    id,
    ...(isId(accountId) ? { accountId: String(accountId) } : {}),
    ...(isStrings(skillsIds) ? { skillsIds } : {}),
    ...(roleId === undefined ? {} : { roleId }),
    raw,
  };
}

function identified(what: string, index: number, item: unknown): { object: Json; id: string } {
  if (!isObject(item)) throw malformed(`${what}: item number ${index + 1} is not an object`);
  const id = item['_id'];
  if (typeof id === 'string' && LONE_SURROGATE.test(id))
    throw malformed(`${what}: object number ${index + 1} has an _id that is no Unicode text`);
  if (!isEntryId(id)) throw malformed(`${what}: object number ${index + 1} has no _id that is a text`);
  return { object: item, id };
}

/** What neither a path nor the store could hold. */
const LONE_SURROGATE = /\p{Surrogate}/u;

function isEntryId(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && !LONE_SURROGATE.test(value);
}

/** Names and ids are kept and shown as they are, so that one with the token in it would tell it to everybody. */
function refuseToken(what: string, index: number, values: readonly unknown[], token: TokenGuard): void {
  if (holdsToken(values, token))
    throw malformed(
      `${what}: object number ${index + 1} has the token itself for a name or an id; mend it there`,
    );
}

function holdsToken(values: readonly unknown[], token: TokenGuard): boolean {
  return values.some((value) => typeof value === 'string' && token.isIn(value));
}

/** An `_id` listed twice is one entry, with a warning (contract, section 4). */
function unique<T extends { readonly id: string }>(
  what: string,
  items: readonly T[],
  merge: (first: T, second: T) => T,
): Listing<T> {
  const byId = new Map<string, T>();
  const repeated = new Set<string>();
  for (const item of items) {
    const first = byId.get(item.id);
    if (first !== undefined) repeated.add(item.id);
    byId.set(item.id, first === undefined ? item : merge(first, item));
  }
  const ids = [...repeated].sort();
  if (ids.length === 0) return { items, warnings: [] };
  const more = ids.length > 5 ? `, … and ${ids.length - 5} more` : '';
  const warning: Warning = {
    code: 'repeated_id',
    message: `${what} repeats ${ids.length === 1 ? 'an _id' : `${ids.length} _ids`}: ${ids.slice(0, 5).join(', ')}${more}; each counts once`,
  };
  return { items: [...byId.values()], warnings: [warning] };
}

/** One id that is listed again has every name that it is listed under; their order in the list changes nothing. */
function mergeEntries(first: Entry, second: Entry): Entry {
  const [kept, other] = compareCodePoints(first.name, second.name) <= 0 ? [first, second] : [second, first];
  const all = [...(first.otherNames ?? []), ...(second.otherNames ?? []), other.name];
  const otherNames = [...new Set(all)].filter((name) => name !== kept.name).sort(compareCodePoints);
  return otherNames.length === 0 ? kept : { ...kept, otherNames };
}

/** A person listed twice has what either listing shows: too many holders only hold a delete back. */
function mergeResources(first: Resource, second: Resource): Resource {
  const skillsIds = [...new Set([...(first.skillsIds ?? []), ...(second.skillsIds ?? [])])].sort();
  const roleIds = [first, second].flatMap(({ roleId, otherRoleIds = [] }) => [roleId, ...otherRoleIds]);
  const [roleId, ...otherRoleIds] = [...new Set(roleIds.filter((id) => typeof id === 'string'))].sort();
  const [{ raw }] = [first, second].sort((a, b) =>
    compareCodePoints(JSON.stringify(a.raw), JSON.stringify(b.raw)),
  ) as [Resource, Resource];
  return {
    ...second,
    ...first,
    raw,
    ...(skillsIds.length > 0 ? { skillsIds } : {}),
    ...(roleId === undefined ? {} : { roleId }),
    ...(otherRoleIds.length > 0 ? { otherRoleIds } : {}),
  };
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

function isSalary(field: string): boolean {
  return /salar/i.test(field);
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

function malformed(message: string): ServiceError {
  return new ServiceError('malformed', `${message}; a list that is not whole and well-formed is not used`);
}
