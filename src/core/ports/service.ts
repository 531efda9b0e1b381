// What reads and writes the lists of an account, and the outcome of a write as far as the answers show it. The adapter is in
// service/.
import type { Entry, Kind, Resource, Warning } from '../catalog.ts';
import type { ServiceError } from '../errors.ts';
import type { RunSignals } from './clock.ts';
import type { AccountSettings } from '../settings.ts';

export interface Traffic {
  readonly requests: number;
  readonly retries: number;
}

export interface Listing<T> {
  readonly items: readonly T[];
  readonly warnings: readonly Warning[];
}

/** Reads the lists of one account, and cannot write. The methods retry, and throw ServiceError after the last attempt. */
export interface ServiceReader {
  listEntries(kind: Kind): Promise<Listing<Entry>>;
  listResources(): Promise<Listing<Resource>>;
  traffic(): Traffic;
}

/**
 * Called directly before each attempt, when it has waited for its turn: journals it. False prevents the attempt, as when the
 * lists behind a delete are too old.
 */
export type MayStart = () => boolean | Promise<boolean>;

/** Creates and deletes entries of one account. Only the apply steps of run/ receive one. Rejects only as `mayStart` does. */
export interface ServiceWriter {
  create(kind: Kind, name: string, mayStart: MayStart): Promise<CreateOutcome>;
  delete(kind: Kind, remoteId: string, mayStart: MayStart): Promise<DeleteOutcome>;
}

/** Opens an account for reading. Planning has only this. */
export interface ReadableService {
  reader(account: AccountSettings, signals: RunSignals): Promise<ServiceReader>;
}

/** Opens an account for writing as well. */
export interface WritableService extends ReadableService {
  /** A digest that is equal for two accounts with the same address and token, and does not reveal the token. */
  tokenKey(account: AccountSettings, signals: RunSignals): Promise<string>;
  writer(account: AccountSettings, signals: RunSignals): Promise<ServiceWriter>;
}

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

/**
 * The outcome of one delete. `outdated`: `mayStart` prevented an attempt. `maybeDone`: the answer to an attempt was lost or
 * inconclusive, so that the entry may be deleted. `error` is that of the last attempt.
 */
export type DeleteOutcome =
  | { readonly type: 'deleted'; readonly httpStatus: number; readonly attempts: number }
  | {
      readonly type: 'failed';
      readonly error: ServiceError;
      readonly attempts: number;
      readonly maybeDone: boolean;
    }
  | {
      readonly type: 'outdated';
      readonly error: ServiceError | null;
      readonly attempts: number;
      readonly maybeDone: boolean;
    };
