// What a run deleted, who had it, and what must be considered before it is created again.
import type { DeletedEntry } from './command-schemas.ts';
import { linesFor } from './allowed-deletes.ts';
import { type DesiredCatalog, type Entry, type Kind, KINDS, LIST_KEYS, type Resource } from './catalog.ts';
import type { RunDetail } from './ports/journal-reader.ts';
import type { OperationRecord } from './schemas.ts';
import { nameProblem } from './name-rules.ts';
import { compareCodePoints, nameKey } from './names.ts';
import { holdersIn } from './unknown-holders.ts';
import { type EntryKey, entryKey, usageOf } from './usage.ts';
import { yamlText } from './yaml-text.ts';

export interface RestorationFacts {
  readonly detail: Pick<RunDetail, 'operations' | 'plan' | 'earlierHolders'>;
  /** The people of the lists that the run read before it wrote; null when they are no longer stored. */
  readonly people: readonly Resource[] | null;
  /** The entries of lists that are newer than the run's deletes; null when there are none. */
  readonly later: Readonly<Record<Kind, readonly Entry[]>> | null;
  /** What the account file asks for now; null when it is invalid or missing. */
  readonly desired: DesiredCatalog | null;
}

/** The entries that the run deleted, or may have deleted, in the order of its operations. */
export function deletedEntries({ detail, people, later, desired }: RestorationFacts): DeletedEntry[] {
  const planned = new Map(detail.plan?.operations.map((operation, index) => [index + 1, operation]));
  const holders = people === null ? null : usageOf(people);
  return detail.operations.filter(mayHaveDeleted).map((operation): DeletedEntry => {
    const { seq, kind, name, remoteId } = operation;
    const inPlan = planned.get(seq)?.usedBy;
    const isUnknown = detail.plan !== null && holdersIn(detail.plan)({ kind }) === null;
    const inLists = holders?.get(keyOf(operation)) ?? (holders === null ? undefined : []);
    return {
      kind,
      name,
      remoteId,
      outcome: operation.status === 'done' ? 'deleted' : 'unknown',
      people:
        isUnknown || (inPlan === undefined && inLists === undefined)
          ? null
          : [...new Set([...(inPlan ?? []), ...(inLists ?? [])])].sort(compareCodePoints),
      earlier: earlierThan(detail, seq),
      listed: later === null ? null : listedAs(operation, later[kind]),
      inFile: desired === null ? null : filePlace(kind, name, desired),
      problem: nameProblem(name) ?? null,
    };
  });
}

function keyOf({ kind, remoteId }: OperationRecord): EntryKey {
  return entryKey(kind, remoteId ?? '');
}

function earlierThan(
  { earlierHolders = [] }: RestorationFacts['detail'],
  wanted: number,
): DeletedEntry['earlier'] {
  const found = earlierHolders.find(({ seq }) => seq === wanted);
  return found === undefined ? null : { until: found.until, people: found.people };
}

/** A delete without an attempt was not necessary: the entry was gone already. */
export function mayHaveDeleted({ action, status, attempts }: OperationRecord): boolean {
  if (action !== 'delete') return false;
  return (status === 'done' && attempts > 0) || status === 'unknown' || status === 'sent';
}

function listedAs({ name, remoteId }: OperationRecord, entries: readonly Entry[]): DeletedEntry['listed'] {
  if (entries.some(({ id }) => id === remoteId)) return 'same';
  return entries.some((entry) => nameKey(entry.name) === nameKey(name)) ? 'other' : null;
}

function filePlace(kind: Kind, name: string, desired: DesiredCatalog): NonNullable<DeletedEntry['inFile']> {
  const entries = desired[kind];
  if (entries === undefined) return 'unmanaged';
  const key = nameKey(name);
  if (entries.some((entry) => nameKey(entry.name) === key)) return 'desired';
  if (entries.some(({ formerly }) => formerly.some((former) => nameKey(former) === key))) return 'formerly';
  if (desired.absent?.[kind]?.some((absent) => nameKey(absent) === key) === true) return 'absent';
  return linesFor(desired.allowedDeletes, { kind, name }).length > 0 ? 'allowed' : 'none';
}

/**
 * The lines of an account file that ask for the entries, each name once. Left out are names that the file has already or
 * cannot contain, and entries that were never deleted. So are kinds that the file does not manage: with a list of these
 * entries alone the next run would delete all others.
 */
export function restoringLines(entries: readonly DeletedEntry[]): string[] {
  return KINDS.flatMap((kind) => {
    const wanted = entries.filter((entry) => entry.kind === kind && needsLine(entry));
    const names = new Set(wanted.map(({ name }) => nameKey(name)));
    return names.size === 0
      ? []
      : [`${LIST_KEYS[kind]}:`, ...[...names].map((name) => `  - ${yamlText(name)}`)];
  });
}

function needsLine({ inFile, problem, listed }: DeletedEntry): boolean {
  return problem === null && inFile !== 'desired' && inFile !== 'unmanaged' && listed !== 'same';
}
