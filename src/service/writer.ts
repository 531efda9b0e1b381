// Creates and deletes entries of one account. Reports for each change whether it happened, did not happen, or may have
// happened.
import type { Entry, Kind } from '../core/catalog.ts';
import { ServiceError } from '../core/errors.ts';
import type { ServiceWriter, CreateOutcome, DeleteOutcome, MayStart } from '../core/ports/service.ts';
import { beginningOf, readJson } from './body.ts';
import { PATHS } from './reader.ts';
import { FailedAttempt, type ResponseHead } from './failures.ts';
import type { Requests } from './requests.ts';
import { toEntry } from './responses.ts';

const SHORT_BODY_BYTES = 65_536;

export function createWriter(requests: Requests): ServiceWriter {
  const { token } = requests;
  /**
   * The entry in the response to a create. Undefined if the response is not a valid entry, which makes the create doubtful,
   * or if the entry contains the token and must not be stored.
   */
  async function createdIn(body: AsyncIterable<Uint8Array>): Promise<Entry | undefined> {
    try {
      return toEntry('the answer', await readJson('the answer', body), token);
    } catch (error) {
      if (error instanceof ServiceError) return undefined;
      throw error;
    }
  }

  return {
    async create(kind: Kind, name: string, mayStart: MayStart): Promise<CreateOutcome> {
      let last: ServiceError | null = null;
      // A create is repeated only if it certainly did not happen: throttled, or not connected.
      const repeats = ({ error, reached }: FailedAttempt): boolean => {
        last = error;
        return !reached && (error.kind === 'throttled' || error.httpStatus === undefined);
      };
      try {
        const call = {
          method: 'POST' as const,
          path: PATHS[kind],
          body: { name },
          read: (_: ResponseHead, answer: AsyncIterable<Uint8Array>) => createdIn(answer),
        };
        const { content: entry, status, attempts } = await requests.send(call, repeats, mayStart);
        if (entry !== undefined) return { type: 'created', entry, httpStatus: status, attempts };
        const reason = `the response to the create (status ${status}) has no valid entry`;
        return { type: 'doubtful', reason, httpStatus: status, attempts };
      } catch (error) {
        if (!(error instanceof FailedAttempt)) throw error;
        const { attempts } = error;
        if (error.outdated) return { type: 'outdated', error: last, attempts };
        if (!error.reached) return { type: 'failed', error: error.error, attempts };
        const { message: reason, httpStatus = null } = error.error;
        return { type: 'doubtful', reason, httpStatus, attempts };
      }
    },

    async delete(kind: Kind, remoteId: string, mayStart: MayStart): Promise<DeleteOutcome> {
      if (leadsElsewhere(remoteId)) {
        const message = `an entry with the _id ${JSON.stringify(remoteId)} cannot be part of a URL; delete it in the service`;
        const error = new ServiceError('malformed', message);
        return { type: 'failed', error, attempts: 0, maybeDone: false };
      }
      let maybeDone = false;
      let last: ServiceError | null = null;
      const repeats = (failure: FailedAttempt): boolean => {
        maybeDone ||= failure.reached;
        last = failure.error;
        return true;
      };
      try {
        const path = `${PATHS[kind]}/${encodeURIComponent(remoteId)}`;
        const call = { method: 'DELETE' as const, path, read: readNothing };
        const { status, attempts } = await requests.send(call, repeats, mayStart);
        return { type: 'deleted', httpStatus: status, attempts };
      } catch (error) {
        if (!(error instanceof FailedAttempt)) throw error;
        const { attempts } = error;
        maybeDone ||= error.reached;
        if (error.outdated) return { type: 'outdated', error: last, attempts, maybeDone };
        return { type: 'failed', error: error.error, attempts, maybeDone };
      }
    },
  };
}

/**
 * Whether an id has a path segment `.` or `..`, even after decoding: a proxy that decodes the URL would send the delete to
 * another path, such as that of a role.
 */
function leadsElsewhere(remoteId: string): boolean {
  let [decoded, before] = [remoteId, ''];
  while (decoded !== before) {
    before = decoded;
    decoded = decoded.replace(/%(?:25|2e|2f|5c|3b)/giu, (code) => decodeURIComponent(code));
  }
  // Some servers cut a segment at its semicolon.
  return decoded.split(/[/\\]/u).some((segment) => /^\.{1,2}(?:;|$)/u.test(segment));
}

/** The body of a delete has no effect; it is read so that the connection can be used again. */
async function readNothing(_: ResponseHead, body: AsyncIterable<Uint8Array>): Promise<void> {
  await beginningOf(body, SHORT_BODY_BYTES).catch(() => undefined);
}
