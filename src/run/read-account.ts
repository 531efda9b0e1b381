// Reads the lists of an account for commands that only read, and refuses lists of another account.
import { type Kind, KINDS, type ObservedCatalog, type Warning } from '../core/catalog.ts';
import { nameKeys } from '../core/diff.ts';
import { checkIdentity, copiedToken, listedAccountId } from '../core/identity.ts';
import { compareCodePoints } from '../core/names.ts';
import type { Journal, LastGood } from '../core/ports/journal.ts';
import type { ServiceReader } from '../core/ports/service.ts';
import type { JournalReader } from '../core/ports/journal-reader.ts';
import type { ProgressObserver } from '../core/ports/progress.ts';
import type { AccountSettings } from '../core/settings.ts';
import { baselineOf, suspiciousList } from '../core/list-plausibility.ts';
import { type EntryKey, entryKey, unlistedEntries } from '../core/usage.ts';
import { refuseForeignEntries } from './account-guard.ts';
import { listsObserver, readLists, readTwiceIfNeeded } from './observe.ts';

/** The store's reads that the check of an account needs. */
export interface AccountJournal {
  readonly accountState: Journal['accountState'];
  readonly foreignOwner: Journal['foreignOwner'];
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
  /** The names that the last good lists had and these lack, by code points; empty where the lists are compared with nothing. */
  readonly missing: Readonly<Record<Kind, readonly string[]>>;
}

export interface ReadRequest {
  readonly reader: ServiceReader;
  readonly settings: AccountSettings;
  /** Names of all configured accounts. */
  readonly configured: ReadonlySet<string>;
  /** null without a store. */
  readonly journal: AccountJournal | null;
  /** Waits for `api.recheck` before a second reading. Left out, the lists are read once and compared with nothing. */
  readonly wait?: () => Promise<void>;
  readonly progress?: ProgressObserver | undefined;
}

/**
 * Reads the lists with the identity checks of a run: the pin, the remembered id, the claims of other accounts among
 * `configured`, and entries seen in other accounts. With `wait`, also with the comparison with the last good lists.
 * Throws ServiceError `identity`.
 */
export async function readAccount(request: ReadRequest): Promise<ReadAccount> {
  const { reader, settings, journal, wait } = request;
  const onRead = listsObserver(request.progress, 'plan');
  const lists = await readLists(reader, onRead);
  const listed = listedAccountId(lists);
  const { name: account, accountId: pinned } = settings;
  const remembered = journal === null ? null : (await journal.accountState(account)).remoteAccountId;
  const remoteAccountId = checkIdentity(listed, { account, pinned, remembered });
  await refuseOthers(request, lists, remoteAccountId);
  let observed = lists;
  let implausible = suspiciousList(lists, KINDS, new Set());
  let lastGood: LastGood | null = null;
  if (wait !== undefined) {
    lastGood = (await journal?.lastGood(account, remoteAccountId, lists)) ?? null;
    const baseline = lastGood === null ? null : baselineOf(lastGood.observed, lastGood.deletedSince);
    const again = { reader, managed: KINDS, desired: {}, wait, onRead };
    ({ observed, implausible } = await readTwiceIfNeeded(again, lists, lastGood, baseline));
  }
  checkIdentity(listedAccountId(observed), { account, pinned, remembered });
  const warnings = [...observed.warnings, ...unconfirmed(listed, remoteAccountId)];
  const unlisted = unlistedEntries(observed);
  const missing = missingNames(lastGood, observed);
  return { observed: { ...observed, warnings }, remoteAccountId, implausible, unlisted, missing };
}

/** The names of the last good lists, without those that are listed now and those that rolecall has deleted since. */
function missingNames(lastGood: LastGood | null, observed: ObservedCatalog): ReadAccount['missing'] {
  const of = (kind: Kind): string[] => {
    const listed = new Set(observed[kind].flatMap(nameKeys));
    const gone = (lastGood?.observed[kind] ?? []).filter(
      (entry) =>
        lastGood?.deletedSince.has(entryKey(kind, entry.id)) === false &&
        !nameKeys(entry).some((key) => listed.has(key)),
    );
    return gone.map(({ name }) => name).toSorted(compareCodePoints);
  };
  return { skill: of('skill'), role: of('role') };
}

/** Throws ServiceError `identity` when the lists are those of another account of the store. */
async function refuseOthers(
  { settings, configured, journal }: ReadRequest,
  observed: ObservedCatalog,
  remoteAccountId: string | null,
): Promise<void> {
  if (journal === null) return;
  const { name: account, baseUrl } = settings;
  const other = await journal.claimant({ runId: '', account, baseUrl, remoteAccountId, configured });
  if (other !== null) throw copiedToken(remoteAccountId ?? '', other);
  await refuseForeignEntries(journal, { settings, configured }, { observed, remoteAccountId });
}

/** Warns that no listed object confirms the pinned or remembered account id. */
function unconfirmed(listed: string | null, remoteAccountId: string | null): Warning[] {
  if (listed !== null || remoteAccountId === null) return [];
  const message = `no listed object carries an account id, so rolecall cannot confirm that this is account ${remoteAccountId}`;
  return [{ code: 'identity_unknown', message }];
}
