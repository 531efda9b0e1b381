// Finds the snapshots that the arguments of `diff` name.
import type { Resource } from '../core/catalog.ts';
import { StoreError, UsageError } from '../core/errors.ts';
import type { JournalReader } from '../core/journal-reader.ts';
import type { SnapshotFilter, SnapshotRecord } from '../core/snapshots.ts';
import { findRun } from './find-run.ts';

export const SNAPSHOT_HELP = 'id of a snapshot or a run, `last`, or `now` (reads the service)';

/** Ids of runs begin with a zero, as the time in a UUIDv7 does until the year 2527. */
const SNAPSHOT_ID = /^[1-9]\d{0,14}$/u;

type Reader = Pick<JournalReader, 'snapshots' | 'runs' | 'runsBeginning'>;

/** The lists of one argument: a snapshot, or those of now. */
export type Side = SnapshotRecord | 'now';

/**
 * What both arguments name, and their account. `last` is the newest snapshot of `account`, else of the account of the
 * other argument, else of any. Throws UsageError when they are of different accounts, and StoreError for ids without a
 * snapshot.
 */
export async function findCompared(
  reader: Reader,
  [first, second]: readonly [string, string],
  account: string | undefined,
): Promise<{ readonly sides: readonly [Side, Side]; readonly account: string }> {
  const fixed = [await fixedSnapshot(reader, first), await fixedSnapshot(reader, second)] as const;
  const owner = account ?? fixed.find((snapshot) => snapshot !== null)?.account;
  const sideOf = async (wanted: string, snapshot: SnapshotRecord | null): Promise<Side> =>
    snapshot ?? (wanted === 'now' ? 'now' : await lastSnapshot(reader, owner));
  const sides = [await sideOf(first, fixed[0]), await sideOf(second, fixed[1])] as const;
  const snapshots = sides.filter((side) => side !== 'now');
  const [one] = snapshots;
  if (one === undefined) throw nothingToCompare();
  refuseDifferentAccounts([...snapshots.map((each) => each.account), account ?? one.account]);
  refuseDifferentRemotes(snapshots.map(({ remoteAccountId }) => remoteAccountId));
  return { sides, account: one.account };
}

/** Throws UsageError when no argument names a snapshot, before the store is opened. */
export function refuseNowAlone(wanted: readonly string[]): void {
  if (wanted.every((each) => each === 'now')) throw nothingToCompare();
}

function nothingToCompare(): UsageError {
  return new UsageError('`diff now now` compares nothing; name a snapshot, such as `last`');
}

/** null for `last` and `now`. */
async function fixedSnapshot(reader: Reader, wanted: string): Promise<SnapshotRecord | null> {
  if (wanted === 'last' || wanted === 'now') return null;
  return SNAPSHOT_ID.test(wanted)
    ? await snapshotWithId(reader, Number(wanted))
    : await snapshotOfRun(reader, wanted);
}

async function snapshotWithId(reader: Reader, id: number): Promise<SnapshotRecord> {
  const [snapshot] = await reader.snapshots({ id, limit: 1 });
  if (snapshot !== undefined) return snapshot;
  throw new StoreError(
    'snapshot_unknown',
    `no snapshot ${id} is stored, or \`retention.snapshots\` has deleted it; run \`rolecall snapshots\` to list the snapshots`,
  );
}

/** The last snapshot of the run: what it left. */
async function snapshotOfRun(reader: Reader, wanted: string): Promise<SnapshotRecord> {
  const run = await findRun(reader, wanted, undefined);
  const [snapshot] = await reader.snapshots({ runId: run.id, limit: 1 });
  if (snapshot !== undefined) return snapshot;
  throw new StoreError(
    'snapshot_unknown',
    `run ${run.id} (${run.status}) has no snapshot: it ended before it had read the lists, or \`retention.snapshots\` has deleted it; run \`rolecall snapshots ${run.account}\` to list the snapshots`,
  );
}

async function lastSnapshot(reader: Reader, account: string | undefined): Promise<SnapshotRecord> {
  const snapshot = await newestSnapshot(reader, account === undefined ? {} : { account });
  if (snapshot !== null) return snapshot;
  throw new StoreError(
    'snapshot_unknown',
    account === undefined
      ? 'no snapshot is stored yet'
      : `no snapshot of an account ${JSON.stringify(account)} is stored`,
  );
}

/** Runs of one account may overlap when one of them is a dry run, so the newest snapshot may be of an earlier run. */
const OVERLAPPING = 6;

/** The newest snapshot that the filter selects, or null. */
export async function newestSnapshot(
  reader: Pick<Reader, 'snapshots'>,
  filter: Omit<SnapshotFilter, 'limit'>,
): Promise<SnapshotRecord | null> {
  const snapshots = await reader.snapshots({ ...filter, limit: OVERLAPPING });
  const [newest] = snapshots.toSorted(
    (a, b) => Number(a.takenAt < b.takenAt) - Number(a.takenAt > b.takenAt),
  );
  return newest ?? null;
}

/** The people of the lists that the run read before it wrote; null when those are not stored. */
export async function peopleBefore(
  reader: Pick<JournalReader, 'snapshots' | 'snapshotPeople'>,
  runId: string,
): Promise<readonly Resource[] | null> {
  const own = await reader.snapshots({ runId, limit: 2 });
  const before = own.find(({ phase }) => phase === 'before');
  return before === undefined ? null : await reader.snapshotPeople(before);
}

function refuseDifferentAccounts(accounts: readonly string[]): void {
  const names = new Set(accounts);
  if (names.size > 1) {
    throw new UsageError(
      `the snapshots are of different accounts (${[...names].join(', ')}); compare two snapshots of one account`,
    );
  }
}

/** Throws UsageError when lists are of different accounts of the service, after the pin of the account was changed. */
export function refuseDifferentRemotes(remoteAccountIds: readonly (string | null)[]): void {
  const ids = new Set(remoteAccountIds.filter((id) => id !== null));
  if (ids.size > 1) {
    throw new UsageError(
      `the lists are of different accounts of the service (${[...ids].join(', ')}); compare two snapshots with the same account id`,
    );
  }
}
