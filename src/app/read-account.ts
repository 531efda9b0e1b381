// Reads the lists of an account for commands that only read, and refuses lists of another account.
import { KINDS, type ObservedCatalog, type Warning } from '../core/catalog.ts';
import { checkIdentity, copiedToken, foreignEntries, listedAccountId } from '../core/identity.ts';
import type { Journal, ServiceReader } from '../core/ports.ts';
import type { JournalReader } from '../core/journal-reader.ts';
import type { ProgressObserver } from '../core/progress.ts';
import type { AccountSettings } from '../core/settings.ts';
import { baselineOf, suspiciousList } from '../core/list-plausibility.ts';
import { type EntryKey, keysOf, unlistedEntries } from '../core/usage.ts';
import { listsObserver, readLists, readTwiceIfNeeded } from './observe.ts';

/** The store's reads that the check of an account needs. */
export interface AccountJournal {
  readonly accountState: Journal['accountState'];
  readonly foreignAccount: Journal['foreignAccount'];
  readonly lastGood: Journal['lastGood'];
  readonly claimant: JournalReader['claimant'];
}

export interface ReadAccount {
  readonly observed: ObservedCatalog;
  /** The listed id, otherwise the pinned or the remembered one. */
  readonly remoteAccountId: string | null;
  /** Why the lists cannot be complete, after two readings where `wait` is given; or null. */
  readonly implausible: Warning | null;
  /** The entries that people refer to and no list contains, each once. */
  readonly unlisted: readonly EntryKey[];
}

export interface Reading {
  readonly reader: ServiceReader;
  readonly settings: AccountSettings;
  /** Names of all configured accounts. */
  readonly configured: ReadonlySet<string>;
  /** null without a store. */
  readonly memory: AccountJournal | null;
  /** Waits for `api.recheck` before a second reading. Left out, the lists are read once and compared with nothing. */
  readonly wait?: () => Promise<void>;
  readonly progress?: ProgressObserver | undefined;
}

/**
 * Reads the lists with the identity checks of a run: the pin, the remembered id, the claims of other accounts among
 * `configured`, and entries seen in other accounts. With `wait`, also with the comparison with the last good lists.
 * Throws ServiceError `identity`.
 */
export async function readAccount(reading: Reading): Promise<ReadAccount> {
  const { reader, settings, memory, wait } = reading;
  const onRead = listsObserver(reading.progress, 'plan');
  const lists = await readLists(reader, onRead);
  const listed = listedAccountId(lists);
  const { name: account, accountId: pinned } = settings;
  const remembered = memory === null ? null : (await memory.accountState(account)).remoteAccountId;
  const remoteAccountId = checkIdentity(listed, { account, pinned, remembered });
  await refuseOthers(reading, lists, remoteAccountId);
  let observed = lists;
  let implausible = suspiciousList(lists, KINDS, new Set());
  if (wait !== undefined) {
    const lastGood = (await memory?.lastGood(account, remoteAccountId, lists)) ?? null;
    const baseline = lastGood === null ? null : baselineOf(lastGood.observed, lastGood.deletedSince);
    const again = { reader, managed: KINDS, wait, onRead };
    ({ observed, implausible } = await readTwiceIfNeeded(again, lists, lastGood, baseline));
  }
  checkIdentity(listedAccountId(observed), { account, pinned, remembered });
  const warnings = [...observed.warnings, ...unconfirmed(listed, remoteAccountId)];
  const unlisted = unlistedEntries(observed);
  return { observed: { ...observed, warnings }, remoteAccountId, implausible, unlisted };
}

/** Throws ServiceError `identity` when the lists are those of another account of the store. */
async function refuseOthers(
  { settings, configured, memory }: Reading,
  observed: ObservedCatalog,
  remoteAccountId: string | null,
): Promise<void> {
  if (memory === null) return;
  const { name: account, baseUrl } = settings;
  const other = await memory.claimant({ runId: '', account, baseUrl, remoteAccountId, configured });
  if (other !== null) throw copiedToken(remoteAccountId ?? '', other);
  if (listedAccountId(observed) !== null) return;
  const foreign = await memory.foreignAccount(account, remoteAccountId, keysOf(observed));
  if (foreign !== null) throw foreignEntries(remoteAccountId, foreign);
}

/** Warns that no listed object confirms the pinned or remembered account id. */
function unconfirmed(listed: string | null, remoteAccountId: string | null): Warning[] {
  if (listed !== null || remoteAccountId === null) return [];
  const message = `no listed object carries an account id, so rolecall cannot confirm that this is account ${remoteAccountId}`;
  return [{ code: 'identity_unknown', message }];
}
