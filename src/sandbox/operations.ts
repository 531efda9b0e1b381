// The seven operations of the API: finds the one of a request, carries it out on the account of the token, and validates the body of a create: a
// JSON object with exactly one field, the string `name`.

import { type Account, newEntry } from './account.ts';
import { type ServiceResponse, jsonResponse, payloadOf, errorResponse } from './send.ts';
import { isRecord } from './check.ts';
import { type ListWriter, entryJson } from './lists.ts';
import { type Kind, KINDS, type Region, REGIONS } from './model.ts';
import { storedName, type SandboxSettings } from './settings.ts';

export type Route =
  | { readonly type: 'list'; readonly of: Kind | 'resource' }
  | { readonly type: 'create'; readonly of: Kind }
  | { readonly type: 'delete'; readonly of: Kind; readonly id: string }
  | { readonly type: 'not-allowed'; readonly of: Kind | 'resource'; readonly allow: string }
  | { readonly type: 'unknown' };

/** The parts of a request target. `path` is without the region and the query. */
export interface RequestTarget {
  readonly region: Region;
  readonly path: string;
}

/** The region at the start of the path; a path without one belongs to the region `us`. */
export function splitTarget(url: string): RequestTarget {
  const path = (url.split('?', 1)[0] ?? '/').replace(/^https?:\/\/[^/]*/i, '');
  const region = REGIONS.find((each) => path.startsWith(`/${each}/`));
  return region === undefined ? { region: 'us', path } : { region, path: path.slice(region.length + 1) };
}

const PATH = /^\/api\/public\/v1\/(resource|skill|role)(?:\/([^/]+))?$/;
const SUBJECTS = [...KINDS, 'resource'] as const;

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The operation of a method and a path. */
export function findRoute(method: string, path: string): Route {
  const found = PATH.exec(path);
  const of = SUBJECTS.find((each) => each === found?.[1]);
  const id = found?.[2];
  if (of === undefined) return { type: 'unknown' };
  if (id === undefined) {
    if (method === 'GET') return { type: 'list', of };
    if (of === 'resource') return { type: 'not-allowed', of, allow: 'GET' };
    return method === 'POST' ? { type: 'create', of } : { type: 'not-allowed', of, allow: 'GET, POST' };
  }
  if (of === 'resource') return { type: 'unknown' };
  return method === 'DELETE'
    ? { type: 'delete', of, id: decoded(id) }
    : { type: 'not-allowed', of, allow: 'DELETE' };
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

/** Where an operation takes effect, and when. */
interface Target {
  readonly account: Account;
  readonly kind: Kind;
  readonly settings: SandboxSettings;
  readonly nowMs: number;
}

function create({ account, kind, settings, nowMs }: Target, body: CreateBody): ServiceResponse {
  if ('problems' in body) return jsonResponse(settings.validationStatus, { detail: body.problems });
  const name = storedName(body.name, settings);
  if (settings.uniqueNames !== false && account.entries[kind].hasName(name, settings.uniqueNames)) {
    return errorResponse(settings.duplicateStatus, `A ${kind} with this name already exists`);
  }
  const entry = newEntry(name, nowMs);
  account.addEntry(kind, entry, settings.listDelayMs > 0 ? nowMs + settings.listDelayMs : undefined);
  const payload = payloadOf(entryJson(entry, account.identity, settings, true));
  return { status: settings.createStatus, payload, effect: true };
}

function remove({ account, kind, settings, nowMs }: Target, id: string): ServiceResponse {
  const done = jsonResponse(200, settings.deleteString);
  const { unknownIdStatus, deleteRefusalStatus } = settings;
  if (account.entries[kind].get(id) === undefined) {
    const isSuccess = unknownIdStatus < 300;
    return isSuccess
      ? { ...done, status: unknownIdStatus }
      : errorResponse(unknownIdStatus, `Unknown ${kind}_id`);
  }
  if (deleteRefusalStatus !== null)
    return errorResponse(deleteRefusalStatus, `This ${kind} cannot be deleted`);
  account.removeEntry(id, settings.listDelayMs > 0 ? nowMs + settings.listDelayMs : undefined);
  return { ...done, effect: true };
}

/**
 * Carries out the request and returns the response. Unknown paths (404) and methods (405) are checked first, then the
 * token, then the body.
 */
export function operate(
  request: ServiceRequest,
  lists: ListWriter,
  settings: SandboxSettings,
  nowMs: number,
): ServiceResponse {
  const { route, account, body } = request;
  if (route.type === 'unknown') return errorResponse(404, 'Not Found');
  if (route.type === 'not-allowed') return errorResponse(405, 'Method Not Allowed', { allow: route.allow });
  if (account === null) {
    const { missingTokenStatus, unauthorizedStatus } = settings;
    const status = request.hasToken ? unauthorizedStatus : (missingTokenStatus ?? unauthorizedStatus);
    return errorResponse(status, 'Not authenticated', { 'www-authenticate': 'Bearer' });
  }
  switch (route.type) {
    case 'list':
      return {
        // The public description of the service states the status of this list only.
        status: route.of === 'resource' ? 200 : settings.listStatus,
        payload: lists.write(account, route.of, settings, nowMs),
        effect: false,
      };
    case 'create':
      return create({ account, kind: route.of, settings, nowMs }, body ?? { problems: [] });
    case 'delete':
      return remove({ account, kind: route.of, settings, nowMs }, route.id);
  }
}

/** One entry of `detail` in a validation error. */
interface ValidationProblem {
  readonly loc: readonly string[];
  readonly msg: string;
  readonly type: string;
  readonly input: unknown;
  readonly ctx: Readonly<Record<string, unknown>>;
}

export type CreateBody = { readonly name: string } | { readonly problems: readonly ValidationProblem[] };

const strict = new TextDecoder('utf-8', { fatal: true });

function invalid(problem: Omit<ValidationProblem, 'ctx'> & Partial<ValidationProblem>): ValidationProblem {
  return { ctx: {}, ...problem };
}

function nameProblems(
  body: Readonly<Record<string, unknown>>,
  settings: SandboxSettings,
): ValidationProblem[] {
  const loc = ['body', 'name'];
  const name = body['name'];
  if (name === undefined) return [invalid({ loc, type: 'missing', msg: 'Field required', input: body })];
  if (typeof name !== 'string')
    return [invalid({ loc, type: 'string_type', msg: 'Input should be a valid string', input: name })];
  const length = Array.from(name).length;
  const { minNameLength: min, maxNameLength: max } = settings;
  if (length < min) {
    const msg = `String should have at least ${min} characters`;
    return [invalid({ loc, type: 'string_too_short', msg, input: name, ctx: { min_length: min } })];
  }
  if (max !== null && length > max) {
    const msg = `String should have at most ${max} characters`;
    return [invalid({ loc, type: 'string_too_long', msg, input: name, ctx: { max_length: max } })];
  }
  return [];
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
    const loc = ['header', 'content-type'];
    return { problems: [invalid({ loc, type: 'content_type', msg, input: contentType ?? null })] };
  }
  let body: unknown;
  try {
    body = JSON.parse(strict.decode(bytes));
  } catch (error) {
    const reason = error instanceof SyntaxError ? error.message : 'the bytes are not UTF-8';
    const problem = { loc: ['body'], type: 'json_invalid', msg: 'JSON decode error', input: {} };
    return { problems: [invalid({ ...problem, ctx: { error: reason } })] };
  }
  if (!isRecord(body)) {
    const msg = 'Input should be a valid object';
    return { problems: [invalid({ loc: ['body'], type: 'object_type', msg, input: body })] };
  }
  const extra = Object.keys(body).filter((key) => key !== 'name');
  const problems = [
    ...nameProblems(body, settings),
    ...extra.map((key) =>
      invalid({
        loc: ['body', key],
        type: 'extra_forbidden',
        msg: 'Extra inputs are not permitted',
        input: body[key],
      }),
    ),
  ];
  return problems.length === 0 ? { name: String(body['name']) } : { problems };
}
