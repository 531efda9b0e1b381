// Carries out the seven operations of the API on the account that the token belongs to.

import { type Account, newEntry } from './account.ts';
import { type ServiceResponse, jsonResponse, payloadOf, errorResponse } from './response.ts';
import type { CreateBody } from './create-body.ts';
import { type ListWriter, entryJson } from './lists.ts';
import type { Kind } from './model.ts';
import type { Route } from './route.ts';
import { storedName, type SandboxSettings } from './settings.ts';

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
