// Finds the runs and snapshots that arguments name: an id, an unambiguous beginning of one, `last`, or a time.
import { StoreError, UsageError } from '../core/errors.ts';
import type { JournalReader } from '../core/ports/journal-reader.ts';
import type { RunRecord } from '../core/journal.ts';
import type { Resource } from '../core/catalog.ts';
import type { SnapshotFilter, SnapshotRecord } from '../core/snapshots.ts';
import { instant } from '../report/formatting.ts';
import { parseMoment } from './command-line.ts';
import { accountList } from './select-accounts.ts';

export const RUN_HELP = 'id of the run, the beginning of the id, or `last`';
export const ACCOUNT_OF_LAST_HELP = 'with `last`: the latest run of this account';

/** The most runs that are listed for an ambiguous id. */
const MOST_LISTED = 20;

/**
 * The run with this id, with the only id that begins so, or the latest one (`last`), of `account` if given. Throws
 * StoreError that describes how to find the id, or lists the runs that an ambiguous beginning matches.
 */
export async function findRun(
  reader: Pick<JournalReader, 'runs' | 'runsBeginning'>,
  wanted: string,
  account: string | undefined,
): Promise<RunRecord> {
  if (wanted === 'last') return await lastRun(reader, account);
  if (account !== undefined) throw new UsageError('--account selects the run only with `last`; leave it out');
  const runs = await reader.runsBeginning(wanted.toLowerCase(), MOST_LISTED + 1);
  const [run, ...others] = runs;
  const shown = JSON.stringify(wanted);
  if (run === undefined) {
    throw new StoreError(
      'run_unknown',
      `no run has an id that begins with ${shown}; run \`rolecall history\` to list the runs`,
    );
  }
  if (others.length === 0 || run.id === wanted.toLowerCase()) return run;
  throw new StoreError('run_ambiguous', ambiguous(shown, runs));
}

async function lastRun(reader: Pick<JournalReader, 'runs'>, account: string | undefined): Promise<RunRecord> {
  const [run] = await reader.runs({ limit: 1, ...(account === undefined ? {} : { account }) });
  if (run !== undefined) return run;
  throw new StoreError(
    'run_unknown',
    account === undefined
      ? 'no run is stored yet'
      : `no run of an account ${JSON.stringify(account)} is stored; run \`rolecall history\` to list the runs`,
  );
}

function ambiguous(shown: string, runs: readonly RunRecord[]): string {
  const rows = runs
    .slice(0, MOST_LISTED)
    .map((each) => `  ${each.id}  ${each.account}  ${each.status}  ${each.startedAt}`);
  return [
    `several runs have an id that begins with ${shown}; use more characters of the id (\`rolecall history\` lists all runs):`,
    ...rows,
    ...(runs.length > MOST_LISTED ? ['  … and more'] : []),
  ].join('\n');
}

export const SNAPSHOT_HELP =
  'id of a snapshot or a run, `last`, a time (the last snapshot until then), or `now` (reads the service)';

type Reader = Pick<JournalReader, 'snapshots' | 'runs' | 'runsBeginning'>;

/** The lists of one argument: a snapshot, or those of now. */
export type Side = SnapshotRecord | 'now';

/** What an argument means, by its form. */
type Place =
  | { readonly type: 'last' | 'now' }
  | { readonly type: 'snapshot'; readonly id: number }
  | { readonly type: 'run'; readonly id: string }
  | { readonly type: 'time'; readonly atMs: number };

/** Ids of runs begin with a zero, as the time in a UUIDv7 does until the year 2527. */
const SNAPSHOT_ID = /^[1-9]\d{0,14}$/u;
const RUN_ID = /^0[0-9a-f-]{0,35}$/iu;
/** Begins no run, but nothing else either. */
const LIKE_RUN_ID = /^[0-9a-f]{4,8}$|^[0-9a-f]{8}-[0-9a-f-]{0,27}$/iu;

/** The forms are tried in this order. undefined: none fits, so it may be the name of an account. */
function placeOf(text: string, nowMs: number): Place | undefined {
  if (text === 'last' || text === 'now') return { type: text };
  if (SNAPSHOT_ID.test(text)) return { type: 'snapshot', id: Number(text) };
  if (RUN_ID.test(text)) return { type: 'run', id: text };
  const atMs = parseMoment(text, nowMs);
  return atMs === undefined ? undefined : { type: 'time', atMs };
}

export interface Compared {
  readonly places: readonly [Place, Place];
  readonly account: string | undefined;
}

/**
 * The arguments `<from> [to] [account]` of `diff`. A second argument that has no form of a snapshot is the account; without
 * `to` it is the newest snapshot. Throws UsageError, also for what compares nothing.
 */
export function parseCompared(
  [from, second, third]: readonly [from: string, second?: string | undefined, third?: string | undefined],
  nowMs: number,
): Compared {
  const start = placeOf(from, nowMs) ?? (LIKE_RUN_ID.test(from) ? { type: 'run', id: from } : undefined);
  const end = second === undefined ? undefined : placeOf(second, nowMs);
  const wrong = start === undefined ? from : third !== undefined && end === undefined ? second : undefined;
  if (start === undefined || wrong !== undefined) {
    throw new UsageError(
      `${JSON.stringify(wrong)} is no snapshot, run or time; use an id, \`last\`, \`now\`, \`2026-03-31\`, \`yesterday\` or \`7d\`, and write the account last`,
    );
  }
  if (start.type === 'now' && (second === undefined || end?.type === 'now')) {
    throw new UsageError('`diff now now` compares nothing; name a snapshot, such as `last`');
  }
  const account = third ?? (end === undefined ? second : undefined);
  return { places: [start, end ?? { type: 'last' }], account };
}

/**
 * What both places are, and their account: the named one, that of a snapshot or run, or the only one of `known`. Only
 * `last` of all accounts needs none. Throws UsageError when they are of different accounts, and StoreError for places
 * without a snapshot.
 */
export async function findCompared(
  reader: Reader,
  { places, account }: Compared,
  known: readonly { readonly name: string }[],
): Promise<{ readonly sides: readonly [Side, Side]; readonly account: string }> {
  const [first, second] = places;
  const fixed = [await fixedSnapshot(reader, first), await fixedSnapshot(reader, second)] as const;
  const only = known.length === 1 ? known[0]?.name : undefined;
  const owner = account ?? fixed.find((snapshot) => snapshot !== null)?.account ?? only;
  if (owner === undefined && places.some(({ type }) => type === 'time')) {
    throw new UsageError(`a time needs an account: write its name last; ${accountList(known)}`);
  }
  const sideOf = async (place: Place, snapshot: SnapshotRecord | null): Promise<Side> =>
    snapshot ?? (place.type === 'now' ? 'now' : await lastSnapshot(reader, owner, place));
  const sides = [await sideOf(first, fixed[0]), await sideOf(second, fixed[1])] as const;
  const snapshots = sides.filter((side) => side !== 'now');
  const name = account ?? snapshots[0]?.account ?? '';
  refuseDifferentAccounts([...snapshots.map((each) => each.account), name]);
  refuseDifferentRemotes(snapshots.map(({ remoteAccountId }) => remoteAccountId));
  return { sides, account: name };
}

/** null for a place that depends on the account. */
async function fixedSnapshot(reader: Reader, place: Place): Promise<SnapshotRecord | null> {
  if (place.type === 'snapshot') return await snapshotWithId(reader, place.id);
  return place.type === 'run' ? await snapshotOfRun(reader, place.id) : null;
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

/** The newest snapshot, or the newest one that was taken at a time or before. */
async function lastSnapshot(
  reader: Reader,
  account: string | undefined,
  place: Place,
): Promise<SnapshotRecord> {
  const snapshot = await newestSnapshot(reader, {
    ...(account === undefined ? {} : { account }),
    ...(place.type === 'time' ? { untilMs: place.atMs } : {}),
  });
  if (snapshot !== null) return snapshot;
  const of = account === undefined ? '' : ` of the account ${JSON.stringify(account)}`;
  const until =
    place.type === 'time' ? ` that was taken until ${instant(new Date(place.atMs).toISOString())}` : ' yet';
  throw new StoreError(
    'snapshot_unknown',
    `no snapshot${of} is stored${until}; run \`rolecall snapshots\` to list the snapshots`,
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
