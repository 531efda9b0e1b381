// Checks that every list read during a run still belongs to the account that the run started with.
import type { ObservedCatalog } from '../core/catalog.ts';
import { ServiceError } from '../core/errors.ts';
import { foreignEntries, listedAccountId } from '../core/identity.ts';
import type { Journal } from '../core/ports/journal.ts';
import type { Listing, ServiceReader } from '../core/ports/service.ts';
import type { AccountRequest } from './request.ts';

/**
 * A reader that rejects (ServiceError `identity`) when a listed object carries another account id than the expected one.
 * While the expected id is null, nothing is compared.
 */
export function guardAccount(reader: ServiceReader, expected: () => string | null): ServiceReader {
  function checked<T extends { readonly accountId?: string }>(listing: Listing<T>): Listing<T> {
    const own = expected();
    const stranger = listing.items.find(({ accountId }) => accountId !== undefined && accountId !== own);
    if (own === null || stranger === undefined) return listing;
    throw new ServiceError(
      'identity',
      `a list that was read during the run belongs to account ${stranger.accountId ?? ''}, but this account is ${own}; nothing more was written. Check whether the token changed, then run \`rolecall plan\` again`,
    );
  }
  return {
    listEntries: async (kind, mayStart) => checked(await reader.listEntries(kind, mayStart)),
    listResources: async () => checked(await reader.listResources()),
    traffic: () => reader.traffic(),
  };
}

/** Throws ServiceError `identity` when the lists contain an entry that the store knows in another account. */
export async function refuseForeignEntries(
  journal: Pick<Journal, 'foreignOwner'>,
  { settings: { name: account }, configured }: Pick<AccountRequest, 'settings' | 'configured'>,
  {
    observed: listed,
    remoteAccountId,
  }: { readonly observed: ObservedCatalog; readonly remoteAccountId: string | null },
): Promise<void> {
  const identified = listedAccountId(listed) !== null;
  const claim = { account, remoteAccountId, configured };
  const owner = await journal.foreignOwner({ ...claim, listed, identified });
  if (owner !== null) throw foreignEntries(claim, owner);
}
