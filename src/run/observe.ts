// The first steps of a run, and all steps of a command that only reads: reads the lists, checks whose they are, reads them
// again where something is missing.
import { type DesiredEntry, type Kind, KINDS, type ObservedCatalog, type Warning } from '../core/catalog.ts';
import { nameKeys } from '../core/diff.ts';
import { NO_RECORDS } from '../core/history.ts';
import { throttledError } from '../core/backoff.ts';
import { checkIdentity, copiedToken, foreignEntries, listedAccountId } from '../core/identity.ts';
import { anythingMissing, baselineOf, suspiciousList } from '../core/list-plausibility.ts';
import { compareCodePoints, nameKey } from '../core/names.ts';
import type { AccountState, Journal, JournaledHistory } from '../core/ports/journal.ts';
import type { JournalReader } from '../core/ports/journal-reader.ts';
import type { ServiceReader } from '../core/ports/service.ts';
import { lostAssignments, type UnknownHolders, unknownHolders } from '../core/unknown-holders.ts';
import {
  type EntryKey,
  entryKey,
  missingUse,
  namesByKey,
  unlistedEntries,
  unlistedHoldings,
} from '../core/usage.ts';
import { guardAccount, readLists, readTwiceIfNeeded } from './lists.ts';
import type { AccountRequest, PlanningDeps, PlanningJournal } from './request.ts';

/** What a run has read of the account before it plans. */
export interface Observation {
  readonly observed: ObservedCatalog;
  readonly remoteAccountId: string | null;
  /** The name of this account before its file was renamed, in the first run after the rename; else null. */
  readonly formerName: string | null;
  /** Whether a listed object carried an account id, so that the account is confirmed before the first write. */
  readonly identified: boolean;
  /** Entries that the last good lists showed with people who, or whose fields, are missing now. */
  readonly missingUse: ReadonlySet<EntryKey>;
  /** Why the lists are implausible after two readings, or null. Nothing is written until an operator accepts them. */
  readonly implausible: Warning | null;
  /** The kinds of which nobody can tell who has what. */
  readonly unknownHolders: ReadonlyMap<Kind, UnknownHolders>;
  /** Whether these lists may become the last good ones; not when all assignments of a kind vanished. */
  readonly isGood: boolean;
  readonly state: PlanningState;
  /** What the journal had of the account when its lists were first read. */
  readonly journaled: JournaledHistory;
  readonly takenAtMs: number;
}

interface Observing {
  readonly runId: string;
  readonly reader: ServiceReader;
  readonly request: Pick<
    AccountRequest,
    'settings' | 'api' | 'configured' | 'signals' | 'progress' | 'accept'
  >;
  readonly deps: Pick<PlanningDeps, 'clock'> & { readonly journal: ObservingJournal };
}

/** What the store contains of the account, once its remote account is claimed. */
export type PlanningState = Pick<
  AccountState,
  'remoteAccountId' | 'throttledUntilMs' | 'lastAppliedCommit' | 'releasedRuns' | 'approval'
>;

const NO_STATE: PlanningState = {
  remoteAccountId: null,
  throttledUntilMs: null,
  lastAppliedCommit: null,
  releasedRuns: new Map(),
  approval: null,
};

type ObservingJournal = Omit<PlanningJournal, 'accountState' | 'rolloutHistory'> & {
  accountState(account: string): Promise<PlanningState>;
};

/** Which lists must be complete. */
export interface Scrutiny {
  /** What the store has of the account now. */
  readonly state: PlanningState;
  /** The kinds whose lists must be plausible; left out: those that the file manages. */
  readonly managed?: readonly Kind[];
  /** Whether the run may create: then, without good lists, a list that lacks a desired name is read twice. */
  readonly writes: boolean;
}

/**
 * Reads and checks the lists. Throws ServiceError when a list does not parse or belongs to another account, or during
 * a pause that an earlier answer requested.
 */
export async function observe(
  { reader, runId, request, deps }: Observing,
  {
    state: before,
    writes,
    managed = KINDS.filter((kind) => request.settings.desired[kind] !== undefined),
  }: Scrutiny,
): Promise<Observation> {
  const { settings, configured, progress } = request;
  const { clock, journal } = deps;
  const { name: account, accountId: pinned } = settings;
  const pause = throttledError(before.throttledUntilMs, clock.nowMs());
  if (pause !== null && request.accept?.has('retry_after') !== true) throw pause;
  const remembered = before.remoteAccountId;
  const first = await readLists(reader, progress);
  const remoteAccountId = checkIdentity(listedAccountId(first), { account, pinned, remembered });
  const claim = { runId, account, baseUrl: settings.baseUrl, remoteAccountId, configured };
  const formerName = remembered === null ? await journal.adoptRenamedAccount(claim) : null;
  const other = await journal.claimRemoteAccount(claim);
  if (other !== null) throw copiedToken(remoteAccountId ?? '', other);
  const state = remembered === remoteAccountId ? before : await journal.accountState(account);
  await refuseForeignEntries(journal, request, { observed: first, remoteAccountId });

  const journaled = await journal.accountHistory(account, remoteAccountId, first, clock.nowMs());
  const { lastGood } = journaled;
  const baseline = lastGood === null ? null : baselineOf(lastGood.observed, lastGood.deletedSince);
  const deleted = lastGood?.deletedSince ?? new Set();
  // Lists that did not change lost nothing.
  const compared = lastGood?.observed === first ? null : baseline;
  const lacksSomething =
    lastGood === null
      ? unlistedHoldings(first).some(({ kind }) => managed.includes(kind)) ||
        (writes && lacksDesired(first, settings.desired))
      : lacksAny(first, lastGood.createdSince) ||
        (compared !== null &&
          (anythingMissing(compared, first) || suspiciousList(first, managed, deleted) !== null));
  const own = guardAccount(reader, () => remoteAccountId);
  const { observed, implausible } = await readTwiceIfNeeded({ reader: own, request, clock }, first, {
    baseline: lacksSomething ? baseline : compared,
    managed,
    deleted,
    lacksSomething,
  });
  const takenAtMs = clock.nowMs();
  return {
    observed,
    remoteAccountId,
    formerName,
    identified: listedAccountId(observed) !== null,
    missingUse: missingUse(baseline?.resources ?? [], observed.resources),
    implausible,
    unknownHolders: unknownHolders(observed.resources, baseline?.resources),
    isGood: implausible === null && !lostAssignments(observed.resources, baseline?.resources ?? [], managed),
    state,
    journaled,
    takenAtMs,
  };
}

/** Throws ServiceError `identity` when the lists contain an entry that the store knows in another account. */
export async function refuseForeignEntries(
  journal: Pick<Journal, 'foreignOwner'>,
  { settings: { name: account }, configured }: Pick<AccountRequest, 'settings' | 'configured'>,
  { observed: listed, remoteAccountId }: Pick<Observation, 'observed' | 'remoteAccountId'>,
): Promise<void> {
  const identified = listedAccountId(listed) !== null;
  const claim = { account, remoteAccountId, configured };
  const owner = await journal.foreignOwner({ ...claim, listed, identified });
  if (owner !== null) throw foreignEntries(claim, owner);
}

function lacksDesired(
  observed: ObservedCatalog,
  desired: Partial<Record<Kind, readonly DesiredEntry[]>>,
): boolean {
  return KINDS.some((kind) => {
    const listed = new Set(observed[kind].flatMap(nameKeys));
    return desired[kind]?.some(({ name }) => !listed.has(nameKey(name))) === true;
  });
}

/** Whether the lists lack one of these entries, or show it under another name: it would be created again. */
function lacksAny(observed: ObservedCatalog, created: ReadonlyMap<EntryKey, string>): boolean {
  if (created.size === 0) return false;
  const listed = namesByKey(observed);
  return [...created].some(([key, name]) => nameKey(listed.get(key) ?? '') !== nameKey(name));
}

/** The store's reads that the check of an account needs. */
export type AccountJournal = Pick<Journal, 'accountState' | 'accountHistory' | 'foreignOwner'> &
  Pick<JournalReader, 'claimant'>;

/** What observing needs of a journal, without claiming anything or adopting a renamed account. null: no store. */
export function readOnlyJournal(journal: AccountJournal | null): ObservingJournal {
  const nothing = (): Promise<null> => Promise.resolve(null);
  if (journal === null) {
    return {
      accountState: () => Promise.resolve(NO_STATE),
      foreignOwner: nothing,
      accountHistory: () => Promise.resolve({ ...NO_RECORDS, lastGood: null, unsettled: [] }),
      adoptRenamedAccount: nothing,
      claimRemoteAccount: nothing,
    };
  }
  const { accountState, accountHistory, foreignOwner, claimant: claimRemoteAccount } = journal;
  return { accountState, accountHistory, foreignOwner, adoptRenamedAccount: nothing, claimRemoteAccount };
}

export interface ReadAccount {
  readonly observed: ObservedCatalog;
  /** The listed id, otherwise the pinned or the remembered one. */
  readonly remoteAccountId: string | null;
  /** Why the lists cannot be complete, after two readings; or null. */
  readonly implausible: Warning | null;
  /** The entries that people refer to and no list contains, each once. */
  readonly unlisted: readonly EntryKey[];
  /** The names that the last good lists had and these lack, by code points. */
  readonly missing: Readonly<Record<Kind, readonly string[]>>;
}

/** Reads the lists for a command that journals no run, with the checks of a run. Throws ServiceError `identity`. */
export async function readAccount(
  observing: Omit<Observing, 'runId' | 'deps'> & Pick<Observing['deps'], 'clock'>,
  journal: AccountJournal | null,
): Promise<ReadAccount> {
  const { clock, ...run } = observing;
  const deps = { clock, journal: readOnlyJournal(journal) };
  const state = await deps.journal.accountState(run.request.settings.name);
  const observation = await observe({ ...run, runId: '', deps }, { state, managed: KINDS, writes: false });
  const { observed, remoteAccountId, implausible } = observation;
  const warnings = [...observed.warnings, ...identityWarnings(observation)];
  return {
    observed: { ...observed, warnings },
    remoteAccountId,
    implausible,
    unlisted: unlistedEntries(observed),
    missing: missingNames(observation),
  };
}

/** Warns that no list confirms the pinned or remembered account id. */
export function identityWarnings({
  identified,
  remoteAccountId,
}: Pick<Observation, 'identified' | 'remoteAccountId'>): Warning[] {
  if (identified || remoteAccountId === null) return [];
  const message = `no listed object carries an account id, so rolecall cannot confirm that this is account ${remoteAccountId}; nothing is deleted until the answer to a create confirms it. Delete by hand what must be deleted earlier`;
  return [{ code: 'identity_unknown', message }];
}

/** The names of the last good lists, without those that are listed now and those that rolecall has deleted since. */
function missingNames({ journaled: { lastGood }, observed }: Observation): ReadAccount['missing'] {
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
