// The lists of one account. Has no way to write.
import type { Kind } from '../core/catalog.ts';
import { LargeAccount, ServiceError } from '../core/errors.ts';
import type { Listing, ServiceReader } from '../core/ports.ts';
import type { ListBuilder, ListLimits } from './list.ts';
import { readList } from './list.ts';
import { partialReason } from './partial-answer.ts';
import { PATHS } from './paths.ts';
import type { Requests } from './requests.ts';
import { serviceErrorOf } from './requests.ts';
import type { TokenGuard } from './responses.ts';
import { entryList, resourceList } from './responses.ts';
import type { AnswerHead } from './transport.ts';

export interface ReaderLimits {
  /** Objects of one list. */
  readonly maxEntries: number;
  /** A list of more objects than this is refused as LargeAccount. */
  readonly largeFrom: number;
}

/** How much more a list may have later in a run than it may have at first: what the run itself created. */
const GROWTH = 3;

export function createReader(requests: Requests, token: TokenGuard, limits: ReaderLimits): ServiceReader {
  const readBefore = new Set<string>();

  /** The first reading decides whether the account is large; later ones come after something was written. */
  function limitsOf(path: string): ListLimits {
    const isFirst = !readBefore.has(path);
    const most = isFirst ? limits.largeFrom : limits.largeFrom * GROWTH;
    if (most >= limits.maxEntries) return { maxEntries: limits.maxEntries };
    const tooMany = (what: string): Error =>
      isFirst
        ? new LargeAccount(`${what} has more than ${most} objects`)
        : new ServiceError('malformed', `${what} grew to more than ${most} objects during the run`);
    return { maxEntries: most, tooMany };
  }

  async function list<T>(path: string, build: () => ListBuilder<T>): Promise<Listing<T>> {
    const read = async (head: AnswerHead, body: AsyncIterable<Uint8Array>): Promise<Listing<T>> => {
      const builder = build();
      refusePart(builder.what, head);
      const listing = await readList(body, builder, limitsOf(path));
      readBefore.add(path);
      return listing;
    };
    try {
      return (await requests.send({ method: 'GET', path, read }, () => true)).content;
    } catch (error) {
      throw serviceErrorOf(error);
    }
  }
  return {
    listEntries: (kind: Kind) => list(PATHS[kind], () => entryList(kind, token)),
    listResources: () => list(PATHS.resource, () => resourceList(token)),
    traffic: () => requests.traffic(),
  };
}

function refusePart(what: string, { status, headers }: AnswerHead): void {
  const part = partialReason(status, headers);
  if (part === null) return;
  throw new ServiceError(
    'malformed',
    `${what} is only a part of it (${part}); rolecall reads complete lists only, since it would create again what the other parts list. Check what answers at the base address`,
  );
}
