// Maps a request to its region and to one of the seven operations of the API.

import { type Kind, KINDS, type Region, REGIONS } from './model.ts';

export type Route =
  | { readonly type: 'list'; readonly of: Kind | 'resource' }
  | { readonly type: 'create'; readonly of: Kind }
  | { readonly type: 'delete'; readonly of: Kind; readonly id: string }
  | { readonly type: 'not-allowed'; readonly of: Kind | 'resource'; readonly allow: string }
  | { readonly type: 'unknown' };

/** The parts of a request target. `path` is without the region and the query. */
export interface Target {
  readonly region: Region;
  readonly path: string;
}

/** The region at the start of the path; a path without one belongs to the region `us`. */
export function splitTarget(url: string): Target {
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
