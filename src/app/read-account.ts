// The lists of an account for commands that only read, refused when they are those of another account.
import type { ObservedCatalog } from '../core/catalog.ts';
import { checkIdentity, copiedToken, foreignEntries, listedAccountId } from '../core/identity.ts';
import type { Journal, ServiceReader } from '../core/ports.ts';
import type { JournalReader } from '../core/journal-reader.ts';
import type { AccountSettings } from '../core/settings.ts';
import { keysOf, readLists } from './observe.ts';

/** What a store knows of accounts. */
export interface AccountMemory {
  readonly accountState: Journal['accountState'];
  readonly foreignAccount: Journal['foreignAccount'];
  readonly claimant: JournalReader['claimant'];
}

export interface ReadAccount {
  readonly observed: ObservedCatalog;
  /** The listed id, else the pinned or the remembered one. */
  readonly remoteAccountId: string | null;
}

/**
 * Reads the lists by the same checks as a run: the pin, the id that the store remembers, the accounts that others of
 * `configured` have claimed, and the entries seen elsewhere. `memory` is null while there is no store. Throws
 * ServiceError `identity`.
 */
export async function readAccount(
  reader: ServiceReader,
  settings: AccountSettings,
  configured: ReadonlySet<string>,
  memory: AccountMemory | null,
): Promise<ReadAccount> {
  const observed = await readLists(reader);
  const listed = listedAccountId(observed);
  const { name: account, accountId: pinned, baseUrl } = settings;
  const remembered = memory === null ? null : (await memory.accountState(account)).remoteAccountId;
  const remoteAccountId = checkIdentity(listed, { account, pinned, remembered });
  if (memory === null) return { observed, remoteAccountId };
  const other = await memory.claimant({ runId: '', account, baseUrl, remoteAccountId, configured });
  if (other !== null) throw copiedToken(remoteAccountId ?? '', other);
  const foreign =
    listed === null ? await memory.foreignAccount(account, remoteAccountId, keysOf(observed)) : null;
  if (foreign !== null) throw foreignEntries(remoteAccountId, foreign);
  return { observed, remoteAccountId };
}
