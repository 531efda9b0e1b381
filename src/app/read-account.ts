// Reads the lists of an account for commands that only read, and refuses lists of another account.
import { KINDS, type ObservedCatalog, type Warning } from '../core/catalog.ts';
import { checkIdentity, copiedToken, foreignEntries, listedAccountId } from '../core/identity.ts';
import type { Journal, ServiceReader } from '../core/ports.ts';
import type { JournalReader } from '../core/journal-reader.ts';
import type { AccountSettings } from '../core/settings.ts';
import { suspiciousList } from '../core/list-plausibility.ts';
import { keysOf } from '../core/usage.ts';
import { readLists } from './observe.ts';

/** The store's reads that the check of an account needs. */
export interface AccountMemory {
  readonly accountState: Journal['accountState'];
  readonly foreignAccount: Journal['foreignAccount'];
  readonly claimant: JournalReader['claimant'];
}

export interface ReadAccount {
  readonly observed: ObservedCatalog;
  /** The listed id, otherwise the pinned or the remembered one. */
  readonly remoteAccountId: string | null;
  /** Whether the lists lack entries that people have, so that they cannot be complete. */
  readonly isIncomplete: boolean;
}

/**
 * Reads the lists with the identity checks of a run: the pin, the remembered id, the claims of other accounts among
 * `configured`, and entries seen in other accounts. `memory` is null without a store. Throws ServiceError `identity`.
 */
export async function readAccount(
  reader: ServiceReader,
  settings: AccountSettings,
  configured: ReadonlySet<string>,
  memory: AccountMemory | null,
): Promise<ReadAccount> {
  const lists = await readLists(reader);
  const listed = listedAccountId(lists);
  const { name: account, accountId: pinned, baseUrl } = settings;
  const remembered = memory === null ? null : (await memory.accountState(account)).remoteAccountId;
  const remoteAccountId = checkIdentity(listed, { account, pinned, remembered });
  const warnings = [...lists.warnings, ...unconfirmed(listed, remoteAccountId)];
  const observed = { ...lists, warnings };
  const isIncomplete = suspiciousList(observed, KINDS, new Set()) !== null;
  if (memory === null) return { observed, remoteAccountId, isIncomplete };
  const other = await memory.claimant({ runId: '', account, baseUrl, remoteAccountId, configured });
  if (other !== null) throw copiedToken(remoteAccountId ?? '', other);
  const foreign =
    listed === null ? await memory.foreignAccount(account, remoteAccountId, keysOf(observed)) : null;
  if (foreign !== null) throw foreignEntries(remoteAccountId, foreign);
  return { observed, remoteAccountId, isIncomplete };
}

/** Warns that no listed object confirms the pinned or remembered account id. */
function unconfirmed(listed: string | null, remoteAccountId: string | null): Warning[] {
  if (listed !== null || remoteAccountId === null) return [];
  const message = `no listed object carries an account id, so rolecall cannot confirm that this is account ${remoteAccountId}`;
  return [{ code: 'identity_unknown', message }];
}
