// Reads the lists of one account. Sends only GET requests.
import { setImmediate } from 'node:timers/promises';
import { ServiceError } from '../core/errors.ts';
import type { Listing, ServiceReader } from '../core/ports/service.ts';
import { readJson } from './body.ts';
import { FailedAttempt, type ResponseHead } from './failures.ts';
import type { Requests } from './requests.ts';
import { toEntries, toResources, type TokenGuard } from './responses.ts';
import type { Kind } from '../core/catalog.ts';

export function createReader(requests: Requests): ServiceReader {
  const { token } = requests;
  async function list<T>(
    path: string,
    what: string,
    convert: (what: string, value: unknown, token: TokenGuard) => Listing<T>,
  ): Promise<Listing<T>> {
    const read = async (head: ResponseHead, body: AsyncIterable<Uint8Array>): Promise<Listing<T>> => {
      refusePart(what, partialReason(head.status, head.headers));
      const parsed = await readJson(what, body);
      // Each of the two takes half a second for the largest list, and the daemon keeps answering.
      await setImmediate();
      const listing = convert(what, parsed, token);
      refusePart(what, totalReason(head.headers, Array.isArray(parsed) ? parsed.length : 0));
      return listing;
    };
    try {
      return (await requests.send({ method: 'GET', path, read }, () => true)).content;
    } catch (error) {
      throw error instanceof FailedAttempt ? error.error : error;
    }
  }
  return {
    listEntries: (kind) => list(PATHS[kind], `the list of ${kind}s`, toEntries),
    listResources: () => list(PATHS.resource, 'the list of resources', toResources),
    traffic: () => requests.traffic(),
  };
}

function refusePart(what: string, part: string | null): void {
  if (part === null) return;
  throw new ServiceError(
    'malformed',
    `${what} is incomplete (${part}); rolecall needs complete lists, because it would create the missing entries again. Check the base address and the proxy`,
  );
}

export const PATHS: Readonly<Record<Kind | 'resource', string>> = {
  skill: '/api/public/v1/skill',
  role: '/api/public/v1/role',
  resource: '/api/public/v1/resource',
};

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** Why the response is only a part of a list, or null for a complete one. */
export function partialReason(status: number, headers: Headers): string | null {
  if (status === 206) return 'status 206';
  if (headers['content-range'] !== undefined) return 'a Content-Range header';
  if (valuesOf(headers['link']).some(hasNext)) return 'a Link header with rel="next"';
  if (valuesOf(headers['x-next-page']).some(isPage)) return 'an X-Next-Page header';
  return null;
}

/** Why a list of so many objects is only a part of the complete one, or null. */
export function totalReason(headers: Headers, objects: number): string | null {
  const totals = valuesOf(headers['x-total-count']).filter((value) => /^\d+$/.test(value.trim()));
  return totals.some((total) => Number(total) > objects)
    ? 'the X-Total-Count header reports more objects'
    : null;
}

/** A page number or an address. The last page has an empty value, and other values have no common meaning. */
function isPage(value: string): boolean {
  return /^(?:0*[1-9]\d*|https?:\/\/\S+)$/i.test(value.trim());
}

function valuesOf(header: string | string[] | undefined): readonly string[] {
  return header === undefined ? [] : [header].flat();
}

/**
 * A target in `<…>`, or `name=value` or `name="value"` with white space around each part (RFC 8288). Searched in linear time:
 * each part ends at the first character that it cannot contain.
 */
const LINK_PART = /<[^<>]*>|(?<![^\s=;,"<>])([^\s=;,"<>]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;,"]*))/gsu;

/** Whether a Link header has a link to a next page. */
function hasNext(header: string): boolean {
  return [...header.matchAll(LINK_PART)].some(([, name = '', quoted, plain = '']) => {
    const value = quoted?.replace(/\\(.)/gs, '$1') ?? plain;
    return (
      /^rel\*?$/i.test(name) &&
      value
        .trim()
        .toLowerCase()
        .split(/[ \t]+/)
        .some(isNext)
    );
  });
}

/** `next` as a plain text, as `UTF-8''next`, as its IANA URL, or (although not allowed) in single quotes. */
function isNext(relation: string): boolean {
  const name = relation.replace(/^[\w-]+'[\w-]*'/, '').replace(/'/g, '');
  return name === 'next' || /^https?:\/\/www\.iana\.org\/assignments\/(?:link-)?relations?\/next$/.test(name);
}
