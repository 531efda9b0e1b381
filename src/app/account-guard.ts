// The reader of a run that knows whose account it works on: every later list must still be of that account.
import { ServiceError } from '../core/errors.ts';
import type { Listing, ServiceReader } from '../core/ports.ts';

/**
 * A reader that rejects (ServiceError `identity`) when something listed carries another account id than the expected
 * one; while that is null, nothing is compared (contract, section 5, Identity).
 */
export function guardAccount(reader: ServiceReader, expected: () => string | null): ServiceReader {
  function checked<T extends { readonly accountId?: string }>(listing: Listing<T>): Listing<T> {
    const own = expected();
    const stranger = listing.items.find(({ accountId }) => accountId !== undefined && accountId !== own);
    if (own === null || stranger === undefined) return listing;
    throw new ServiceError(
      'identity',
      `in the middle of the run a list was of account ${stranger.accountId ?? ''}, but this account is ${own}; nothing more was written. Did the token change?`,
    );
  }
  return {
    listEntries: async (kind) => checked(await reader.listEntries(kind)),
    listResources: async () => checked(await reader.listResources()),
    traffic: () => reader.traffic(),
  };
}
