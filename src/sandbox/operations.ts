// The seven operations (planning-service-api.md, section 4) on the account that the token belongs to.

import type { Account } from './account.ts';
import { type Answer, jsonAnswer, payloadOf, problem } from './answer.ts';
import type { CreateBody } from './create-body.ts';
import type { ListWriter } from './lists.ts';
import type { Kind } from './model.ts';
import type { Route } from './route.ts';
import { storedName, type SandboxSettings } from './settings.ts';
import { entryJson } from './wire.ts';
import { newEntry } from './world.ts';

/** One request that reached the service. */
export interface ServiceRequest {
  readonly route: Route;
  readonly account: Account | null;
  /** Whether it carries a token at all. */
  readonly hasToken: boolean;
  /** Only of a create. */
  readonly body: CreateBody | null;
}

function create(
  account: Account,
  kind: Kind,
  body: CreateBody,
  settings: SandboxSettings,
  nowMs: number,
): Answer {
  if ('problems' in body) return jsonAnswer(settings.validationStatus, { detail: body.problems });
  const name = storedName(body.name, settings);
  if (settings.uniqueNames !== false && account.shelves[kind].holds(name, settings.uniqueNames)) {
    return problem(settings.duplicateStatus, `A ${kind} with this name already exists`);
  }
  const entry = newEntry(name, nowMs);
  account.addEntry(kind, entry, settings.listDelayMs > 0 ? nowMs + settings.listDelayMs : undefined);
  const payload = payloadOf(entryJson(entry, account.identity, settings, true));
  return { status: settings.createStatus, payload, effect: true };
}

function remove(account: Account, kind: Kind, id: string, settings: SandboxSettings, nowMs: number): Answer {
  const done = jsonAnswer(200, settings.deleteString);
  const { unknownIdStatus, deleteRefusalStatus } = settings;
  if (account.shelves[kind].get(id) === undefined) {
    const isSuccess = unknownIdStatus < 300;
    return isSuccess ? { ...done, status: unknownIdStatus } : problem(unknownIdStatus, `Unknown ${kind}_id`);
  }
  if (deleteRefusalStatus !== null) return problem(deleteRefusalStatus, `This ${kind} cannot be deleted`);
  account.removeEntry(id, settings.listDelayMs > 0 ? nowMs + settings.listDelayMs : undefined);
  return { ...done, effect: true };
}

/**
 * Carries the request out, at once and in full, and says what the service answers. Unknown paths (404) and methods
 * (405) come first, then the token (section 5), then the body (section 7).
 */
export function operate(
  request: ServiceRequest,
  lists: ListWriter,
  settings: SandboxSettings,
  nowMs: number,
): Answer {
  const { route, account, body } = request;
  if (route.type === 'unknown') return problem(404, 'Not Found');
  if (route.type === 'not-allowed') return problem(405, 'Method Not Allowed', { allow: route.allow });
  if (account === null) {
    const { missingTokenStatus, unauthorizedStatus } = settings;
    const status = request.hasToken ? unauthorizedStatus : (missingTokenStatus ?? unauthorizedStatus);
    return problem(status, 'Not authenticated', { 'www-authenticate': 'Bearer' });
  }
  switch (route.type) {
    case 'list':
      return {
        // The document shows the status of the list of resources.
        status: route.of === 'resource' ? 200 : settings.listStatus,
        payload: lists.write(account, route.of, settings, nowMs),
        effect: false,
      };
    case 'create':
      return create(account, route.of, body ?? { problems: [] }, settings, nowMs);
    case 'delete':
      return remove(account, route.of, route.id, settings, nowMs);
  }
}
