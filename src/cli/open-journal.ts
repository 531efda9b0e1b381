// Opens the journal for commands that read the store, and finds the runs and snapshots that their arguments name.
import type { Resource } from '../core/catalog.ts';
import { StoreError, UsageError } from '../core/errors.ts';
import type { RunRecord } from '../core/schemas.ts';
import type { JournalReader, RunDetail, SnapshotFilter } from '../core/ports/journal-reader.ts';
import type { SnapshotRecord } from '../core/command-schemas.ts';
import { instant } from '../report/formatting.ts';
import { parseMoment } from './command-line.ts';
import type { CommandContext } from './compose.ts';
import { EXIT, type ExitStatus } from './exit-status.ts';
import { accountList, type Loaded, loadForStore } from './load-accounts.ts';

/** Calls `work` with the journal of an existing store, and closes it. Resolves with its status, or with 0. */
export async function withJournal(
  { configFile }: CommandContext,
  work: (reader: JournalReader, loaded: Loaded) => Promise<ExitStatus | undefined>,
): Promise<ExitStatus> {
  const loaded = await loadForStore(configFile);
  const { openJournal } = await import('./compose.ts');
  const store = await openJournal(loaded.service);
  try {
    return (await work(store.reader, loaded)) ?? EXIT.done;
  } finally {
    await store.close();
  }
}

export const RUN_HELP = 'id of the run, the beginning of the id, or `last`';

/** The most runs that are listed for an ambiguous id. */
const MOST_LISTED = 10;

/** The latest run (`last`), or the run with this id or with the only id that begins so. Throws StoreError. */
export async function findRun(
  reader: Pick<JournalReader, 'runs' | 'runsBeginning'>,
  wanted: string,
): Promise<RunRecord> {
  if (wanted === 'last') {
    const [newest] = await reader.runs({ limit: 1 });
    if (newest === undefined) throw new StoreError('run_unknown', 'no run is stored yet');
    return newest;
  }
  const [run, ...others] = await reader.runsBeginning(wanted.toLowerCase(), MOST_LISTED);
  const shown = JSON.stringify(wanted);
  if (run === undefined) {
    throw new StoreError(
      'run_unknown',
      `no run has an id that begins with ${shown}; run \`rolecall history\` to list the runs`,
    );
  }
  if (others.length === 0) return run;
  throw new StoreError(
    'run_ambiguous',
    `several runs have an id that begins with ${shown}; use more characters: ${[run, ...others].map(({ id }) => id).join(', ')}`,
  );
}

/** The same run with its plan and its operations. */
export async function findRunReport(reader: JournalReader, wanted: string): Promise<RunDetail> {
  const { id } = await findRun(reader, wanted);
  const detail = await reader.runReport(id);
  if (detail === null) throw new StoreError('run_unknown', `run ${id} was deleted meanwhile`);
  return detail;
}

export const SNAPSHOT_HELP =
  'id of a snapshot or a run, `last`, a time (the last snapshot until then), or `now` (reads the service)';

type Reader = Pick<JournalReader, 'snapshots' | 'runs' | 'runsBeginning'>;

/** The lists of one argument: a snapshot, or those of now. */
export type Side = SnapshotRecord | 'now';

/** What an argument means, by its form. */
export type Place =
  | { readonly type: 'last' | 'now' }
  | { readonly type: 'snapshot'; readonly id: number }
  | { readonly type: 'run'; readonly id: string }
  | { readonly type: 'time'; readonly atMs: number };

/** Ids of runs begin with a zero, as the time in a UUIDv7 does until the year 2527. */
const SNAPSHOT_ID = /^[1-9]\d{0,14}$/u;
const RUN_ID = /^0[0-9a-f-]{0,35}$/iu;

/** The forms are tried in this order. Throws UsageError. */
export function parsePlace(text: string, nowMs: number): Place {
  if (text === 'last' || text === 'now') return { type: text };
  if (SNAPSHOT_ID.test(text)) return { type: 'snapshot', id: Number(text) };
  if (RUN_ID.test(text)) return { type: 'run', id: text };
  const atMs = parseMoment(text, nowMs);
  if (atMs !== undefined) return { type: 'time', atMs };
  throw new UsageError(
    `${JSON.stringify(text)} is no snapshot, run or time; use an id, \`last\`, \`now\`, \`2026-03-31\`, \`yesterday\` or \`7d\`, and write the account last`,
  );
}

/**
 * What both places are, and their account: the given one, that of a snapshot or run, or the only one of `known`. Throws
 * UsageError when they are of different accounts or no account is known, and StoreError for places without a snapshot.
 */
export async function findCompared(
  reader: Reader,
  [first, second]: readonly [Place, Place],
  given: string | undefined,
  known: readonly { readonly name: string }[],
): Promise<{ readonly sides: readonly [Side, Side]; readonly account: string }> {
  const fixed = [await fixedSnapshot(reader, first), await fixedSnapshot(reader, second)] as const;
  const only = known.length === 1 ? known[0]?.name : undefined;
  const account = given ?? fixed.find((snapshot) => snapshot !== null)?.account ?? only;
  if (account === undefined) {
    throw new UsageError(`\`last\` and times need an account: write its name last; ${accountList(known)}`);
  }
  const sideOf = async (place: Place, snapshot: SnapshotRecord | null): Promise<Side> =>
    snapshot ?? (place.type === 'now' ? 'now' : await lastSnapshot(reader, account, place));
  const sides = [await sideOf(first, fixed[0]), await sideOf(second, fixed[1])] as const;
  const snapshots = sides.filter((side) => side !== 'now');
  const names = new Set([...snapshots.map((each) => each.account), account]);
  if (names.size > 1) {
    throw new UsageError(
      `the snapshots are of different accounts (${[...names].join(', ')}); compare two snapshots of one account`,
    );
  }
  refuseDifferentRemotes(snapshots.map(({ remoteAccountId }) => remoteAccountId));
  return { sides, account };
}

/** The snapshot with an id, or the last one of a run: what it left. null for a place that depends on the account. */
async function fixedSnapshot(reader: Reader, place: Place): Promise<SnapshotRecord | null> {
  if (place.type !== 'snapshot' && place.type !== 'run') return null;
  const runId = place.type === 'run' ? (await findRun(reader, place.id)).id : null;
  const [snapshot] = await reader.snapshots({
    ...(place.type === 'snapshot' ? { id: place.id } : { runId: runId ?? '' }),
    limit: 1,
  });
  if (snapshot !== undefined) return snapshot;
  throw new StoreError(
    'snapshot_unknown',
    runId === null
      ? `no snapshot ${place.id} is stored, or \`retention\` has deleted it; run \`rolecall history --lists\` to list the snapshots`
      : `run ${runId} has no snapshot: it ended before it had read the lists, or \`retention\` has deleted it`,
  );
}

/** The newest snapshot, or the newest one that was taken at a time or before. */
async function lastSnapshot(reader: Reader, account: string, place: Place): Promise<SnapshotRecord> {
  const until = place.type === 'time' ? { untilMs: place.atMs } : {};
  const snapshot = await newestSnapshot(reader, { account, ...until });
  if (snapshot !== null) return snapshot;
  const when =
    place.type === 'time' ? ` that was taken until ${instant(new Date(place.atMs).toISOString())}` : ' yet';
  throw new StoreError(
    'snapshot_unknown',
    `no snapshot of the account ${JSON.stringify(account)} is stored${when}; run \`rolecall history --lists\` to list the snapshots`,
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

/** Throws UsageError when lists are of different accounts of the service, after the pin of the account was changed. */
export function refuseDifferentRemotes(remoteAccountIds: readonly (string | null)[]): void {
  const ids = new Set(remoteAccountIds.filter((id) => id !== null));
  if (ids.size > 1) {
    throw new UsageError(
      `the lists are of different accounts of the service (${[...ids].join(', ')}); compare two snapshots with the same account id`,
    );
  }
}
