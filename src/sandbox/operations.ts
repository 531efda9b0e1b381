// The seven operations of the API: finds the one of a request, carries it out on the account of the token, and validates the
// body of a create, a JSON object with exactly one field, the string `name`.
import { type Account, createdAt } from './account.ts';
import { isRecord } from './check.ts';
import type { AccountIdentity, ResourceRecord, SandboxEntry } from './data-file.ts';
import { type Kind, KINDS, type Region, REGIONS } from './seed.ts';
import { errorResponse, jsonResponse, type ServiceResponse } from './send.ts';
import type { Random, SandboxSettings } from './settings.ts';

export type Subject = Kind | 'resource';

export type Route =
  | { readonly type: 'list'; readonly of: Subject }
  | { readonly type: 'create'; readonly of: Kind }
  | { readonly type: 'delete'; readonly of: Kind; readonly id: string }
  | { readonly type: 'not-allowed'; readonly of: Subject; readonly allow: string }
  | { readonly type: 'unknown' };

/** The region at the start of the path (without one: `us`), and the path without region and query. */
export function splitTarget(url: string): { readonly region: Region; readonly path: string } {
  const path = (url.split('?', 1)[0] ?? '/').replace(/^https?:\/\/[^/]*/i, '');
  const region = REGIONS.find((each) => path.startsWith(`/${each}/`));
  return region === undefined ? { region: 'us', path } : { region, path: path.slice(region.length + 1) };
}

/** The operation of a method and a path. */
export function findRoute(method: string, path: string): Route {
  const [, subject, id] = /^\/api\/public\/v1\/(resource|skill|role)(?:\/([^/]+))?$/.exec(path) ?? [];
  const of = ([...KINDS, 'resource'] as const).find((each) => each === subject);
  if (of === undefined || (of === 'resource' && id !== undefined)) return { type: 'unknown' };
  if (of !== 'resource' && id !== undefined)
    return method === 'DELETE'
      ? { type: 'delete', of, id: decoded(id) }
      : { type: 'not-allowed', of, allow: 'DELETE' };
  if (method === 'GET') return { type: 'list', of };
  if (of === 'resource') return { type: 'not-allowed', of, allow: 'GET' };
  return method === 'POST' ? { type: 'create', of } : { type: 'not-allowed', of, allow: 'GET, POST' };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** One request to the service. */
export interface ServiceRequest {
  readonly route: Route;
  readonly account: Account | null;
  /** Whether the request has an Authorization header. */
  readonly hasToken: boolean;
  /** Null except for a create. */
  readonly body: CreateBody | null;
}

/**
 * Carries out the request and returns the response. Unknown paths (404) and methods (405) are checked first, then the
 * token, then the body. `random` decides the order of shuffled lists.
 */
export function operate(
  { route, account, hasToken, body }: ServiceRequest,
  settings: SandboxSettings,
  random: Random,
): ServiceResponse {
  if (route.type === 'unknown') return errorResponse(404, 'Not Found');
  if (route.type === 'not-allowed') return errorResponse(405, 'Method Not Allowed', { allow: route.allow });
  if (account === null) {
    const { missingTokenStatus, unauthorizedStatus } = settings;
    const status = hasToken ? unauthorizedStatus : (missingTokenStatus ?? unauthorizedStatus);
    return errorResponse(status, 'Not authenticated', { 'www-authenticate': 'Bearer' });
  }
  switch (route.type) {
    case 'list':
      return list(account, route.of, settings, random);
    case 'create':
      return create(account, route.of, settings, body ?? { problems: [] });
    case 'delete':
      return remove(account, route.of, settings, route.id);
  }
}

function list(account: Account, of: Subject, settings: SandboxSettings, random: Random): ServiceResponse {
  const { identity } = account;
  const items =
    of === 'resource'
      ? account.resources().map((person) => resourceBody(person, identity, settings))
      : account.listed(of, Date.now()).map((entry) => entryBody(entry, identity, settings, false));
  const placed = items.map((item) => ({ item, place: settings.listOrder === 'shuffled' ? random() : 0 }));
  const body = placed.sort((a, b) => a.place - b.place).map(({ item }) => item);
  // The public description of the service states the status of the list of resources only.
  return jsonResponse(of === 'resource' ? 200 : settings.listStatus, body);
}

function create(account: Account, kind: Kind, settings: SandboxSettings, body: CreateBody): ServiceResponse {
  if ('problems' in body) return jsonResponse(settings.validationStatus, { detail: body.problems });
  const name = storedName(body.name, settings);
  const { uniqueNames, duplicateStatus, listDelayMs } = settings;
  const compared = (text: string): string => (uniqueNames === 'caseless' ? text.toLowerCase() : text);
  if (uniqueNames !== false && account.all(kind).some((each) => compared(each.name) === compared(name)))
    return errorResponse(duplicateStatus, `A ${kind} with this name already exists`);
  const nowMs = Date.now();
  const entry = { name, ...createdAt(nowMs) };
  account.addEntry(kind, entry, listDelayMs > 0 ? nowMs + listDelayMs : 0);
  const created = entryBody(entry, account.identity, settings, true);
  return jsonResponse(settings.createStatus, created, { effect: true });
}

/** The name that the service stores for a requested name. */
function storedName(name: string, settings: SandboxSettings): string {
  let stored = settings.trimNames ? name.trim() : name;
  if (settings.caseNames === 'lower') stored = stored.toLowerCase();
  if (settings.caseNames === 'upper') stored = stored.toUpperCase();
  return settings.normaliseNames === 'keep' ? stored : stored.normalize(settings.normaliseNames);
}

function remove(account: Account, kind: Kind, settings: SandboxSettings, id: string): ServiceResponse {
  const { unknownIdStatus, deleteRefusalStatus, deleteString, listDelayMs } = settings;
  if (account.find(id)?.kind !== kind)
    return unknownIdStatus < 300
      ? jsonResponse(unknownIdStatus, deleteString)
      : errorResponse(unknownIdStatus, `Unknown ${kind}_id`);
  if (deleteRefusalStatus !== null)
    return errorResponse(deleteRefusalStatus, `This ${kind} cannot be deleted`);
  account.removeEntry(id, listDelayMs > 0 ? Date.now() + listDelayMs : 0);
  return jsonResponse(200, deleteString, { effect: true });
}

function timestamp(value: string, settings: SandboxSettings): string {
  return settings.timestampsWithZone ? value : value.replace(/(?:Z|[+-]\d\d:?\d\d)$/, '');
}

function accountId({ name, id }: AccountIdentity, { listedAccountId }: SandboxSettings): string {
  return Object.hasOwn(listedAccountId, name) ? (listedAccountId[name] ?? id) : id;
}

/** A skill or role as JSON. `complete`: optional fields are always included, as in the response of a create. */
function entryBody(
  entry: SandboxEntry,
  account: AccountIdentity,
  settings: SandboxSettings,
  complete: boolean,
): object {
  const lean = settings.omitOptionalFields && !complete;
  return {
    ...(lean ? {} : { accountId: accountId(account, settings) }),
    name: entry.name,
    _id: entry.id,
    ...(lean ? {} : { createDate: timestamp(entry.createDate, settings) }),
    ...settings.extraFields,
  };
}

/** A resource as JSON. Its date is `create_date`; skills and roles have `createDate`. */
function resourceBody(person: ResourceRecord, account: AccountIdentity, settings: SandboxSettings): object {
  const lean = settings.omitOptionalFields;
  return {
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
  };
}

/** One entry of `detail` in a validation error. */
interface ValidationProblem {
  readonly loc: readonly string[];
  readonly msg: string;
  readonly type: string;
  readonly input: unknown;
  readonly ctx: object;
}

export type CreateBody = { readonly name: string } | { readonly problems: readonly ValidationProblem[] };

const strict = new TextDecoder('utf-8', { fatal: true });

function problem(place: string, type: string, msg: string, input: unknown): ValidationProblem {
  return { loc: place.split('.', 2), msg, type, input, ctx: {} };
}

function* nameProblems(body: Readonly<Record<string, unknown>>, settings: SandboxSettings) {
  const { name } = body;
  const { minNameLength: min, maxNameLength: max } = settings;
  const length = typeof name === 'string' ? Array.from(name).length : 0;
  const should = 'String should have at';
  if (name === undefined) yield problem('body.name', 'missing', 'Field required', body);
  else if (typeof name !== 'string')
    yield problem('body.name', 'string_type', 'Input should be a valid string', name);
  else if (length < min) {
    const ctx = { min_length: min };
    yield { ...problem('body.name', 'string_too_short', `${should} least ${min} characters`, name), ctx };
  } else if (max !== null && length > max) {
    const ctx = { max_length: max };
    yield { ...problem('body.name', 'string_too_long', `${should} most ${max} characters`, name), ctx };
  }
}

/** The name in the body of a create, or every problem of the body. */
export function readCreateBody(
  bytes: Buffer,
  contentType: string | undefined,
  settings: SandboxSettings,
): CreateBody {
  const mediaType = contentType?.split(';')[0]?.trim().toLowerCase();
  if (mediaType !== 'application/json') {
    const msg = 'Content-Type should be application/json';
    return { problems: [problem('header.content-type', 'content_type', msg, contentType ?? null)] };
  }
  let body: unknown;
  try {
    body = JSON.parse(strict.decode(bytes));
  } catch (cause) {
    const error = cause instanceof SyntaxError ? cause.message : 'the bytes are not UTF-8';
    return { problems: [{ ...problem('body', 'json_invalid', 'JSON decode error', {}), ctx: { error } }] };
  }
  if (!isRecord(body))
    return { problems: [problem('body', 'object_type', 'Input should be a valid object', body)] };
  const problems = [...nameProblems(body, settings)];
  for (const [key, input] of Object.entries(body))
    if (key !== 'name')
      problems.push({
        ...problem('body', 'extra_forbidden', 'Extra inputs are not permitted', input),
        loc: ['body', key],
      });
  return problems.length === 0 ? { name: String(body['name']) } : { problems };
}
