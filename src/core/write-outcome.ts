// What came of one create or delete that was sent, as far as the answers tell (contract, section 5).
import type { Entry } from './catalog.ts';
import type { ServiceError } from './errors.ts';

/**
 * What came of one create. `doubtful`: it may have happened, and only a list can tell. `outdated`: `mayStart` forbade
 * another attempt, and it certainly did not happen; `error` is what the last attempt met, null when there was none.
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

/** What came of one delete. `doubtful`: an answer was lost or leaves it open. `outdated`: `isFresh` forbade another attempt. */
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
      /** Whether the answer to an attempt before the last one was lost, which may have done it. */
      readonly maybeDone: boolean;
    }
  | {
      readonly type: 'outdated';
      /** What the last attempt met; null when there was none. */
      readonly error: ServiceError | null;
      readonly attempts: number;
      /** Whether the answer to any attempt was lost, which may have done it. */
      readonly maybeDone: boolean;
    };
