// Reads the lists of one account. Sends only GET requests.
import { setImmediate } from 'node:timers/promises';
import { ServiceError } from '../core/errors.ts';
import type { Listing, ServiceReader } from '../core/ports/service.ts';
import { type ParsedBody, readJson } from './list.ts';
import { partialReason, totalReason } from './partial-list.ts';
import { type Requests, serviceErrorOf } from './requests.ts';
import { toEntries, toResources, type TokenGuard } from './responses.ts';
import type { ResponseHead } from './transport.ts';
import type { Kind } from '../core/catalog.ts';

export function createReader(requests: Requests, token: TokenGuard): ServiceReader {
  async function list<T>(
    path: string,
    what: string,
    convert: (what: string, body: ParsedBody, token: TokenGuard) => Listing<T>,
  ): Promise<Listing<T>> {
    const read = async (head: ResponseHead, body: AsyncIterable<Uint8Array>): Promise<Listing<T>> => {
      refusePart(what, partialReason(head.status, head.headers));
      const parsed = await readJson(what, body);
      // Each of the two takes half a second for the largest list, and the daemon keeps answering.
      await setImmediate();
      const listing = convert(what, parsed, token);
      refusePart(what, totalReason(head.headers, Array.isArray(parsed.value) ? parsed.value.length : 0));
      return listing;
    };
    try {
      return (await requests.send({ method: 'GET', path, read }, () => true)).content;
    } catch (error) {
      throw serviceErrorOf(error);
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
