// Reads the lists of one account. Sends only GET requests.
import { ServiceError } from '../core/errors.ts';
import type { Listing, ServiceReader } from '../core/ports/service.ts';
import type { ApiSettings } from '../core/settings.ts';
import { type ListBuilder, type ListedObject, readList } from './list.ts';
import { partialReason, totalReason } from './partial-list.ts';
import { type Requests, serviceErrorOf } from './requests.ts';
import { entryList, resourceList, type TokenGuard } from './responses.ts';
import type { ResponseHead } from './transport.ts';
import type { Kind } from '../core/catalog.ts';

/** How many more people than skills or roles a list may have. */
const PEOPLE_PER_ENTRY = 5;

export function createReader(
  requests: Requests,
  token: TokenGuard,
  { maxEntries }: Pick<ApiSettings, 'maxEntries'>,
): ServiceReader {
  const mostOf = (path: string): number => maxEntries * (path === PATHS.resource ? PEOPLE_PER_ENTRY : 1);

  async function list<T>(
    path: string,
    build: () => ListBuilder<T>,
    mayStart?: () => boolean,
  ): Promise<Listing<T>> {
    const read = async (head: ResponseHead, body: AsyncIterable<Uint8Array>): Promise<Listing<T>> => {
      const builder = build();
      refusePart(builder.what, partialReason(head.status, head.headers));
      let objects = 0;
      const add = (listed: ListedObject): void => {
        objects += 1;
        builder.add(listed);
      };
      const listing = await readList(body, { ...builder, add }, mostOf(path));
      refusePart(builder.what, totalReason(head.headers, objects));
      return listing;
    };
    try {
      return (await requests.send({ method: 'GET', path, read }, () => true, mayStart)).content;
    } catch (error) {
      throw serviceErrorOf(error);
    }
  }
  return {
    listEntries: (kind, mayStart) => list(PATHS[kind], () => entryList(kind, token), mayStart),
    listResources: () => list(PATHS.resource, () => resourceList(token)),
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
