// The outcome of one create or delete, as far as the answers show it.
import type { Entry } from './catalog.ts';
import type { ServiceError } from './errors.ts';

/**
 * The outcome of one create. `doubtful`: it may have happened, and only a list can show it. `outdated`: `mayStart`
 * prevented another attempt, and the create certainly did not happen; `error` is that of the last attempt, or null.
 */
export type CreateOutcome =
  | {
      readonly type: 'created';
      readonly entry: Entry;
      readonly httpStatus: number;
      readonly attempts: number;
    }
  | {
      readonly type: 'doubtful';
      readonly reason: string;
      readonly httpStatus: number | null;
      readonly attempts: number;
    }
  | { readonly type: 'failed'; readonly error: ServiceError; readonly attempts: number }
  | { readonly type: 'outdated'; readonly error: ServiceError | null; readonly attempts: number };

/** The outcome of one delete. `doubtful`: an answer was lost or inconclusive. `outdated`: `isFresh` prevented an attempt. */
export type DeleteOutcome =
  | { readonly type: 'deleted'; readonly httpStatus: number; readonly attempts: number }
  | {
      readonly type: 'doubtful';
      readonly reason: string;
      readonly httpStatus: number | null;
      readonly attempts: number;
    }
  | {
      readonly type: 'failed';
      readonly error: ServiceError;
      readonly attempts: number;
      /** Whether the answer to an earlier attempt was lost, so that the entry may be deleted. */
      readonly maybeDone: boolean;
    }
  | {
      readonly type: 'outdated';
      /** The error of the last attempt; null when there was none. */
      readonly error: ServiceError | null;
      readonly attempts: number;
      /** Whether the answer to any attempt was lost, so that the entry may be deleted. */
      readonly maybeDone: boolean;
    };
