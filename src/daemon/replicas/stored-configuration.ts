// Keeps the stored schedules equal to the configuration of this replica, unless another replica has a newer one.
import type { ConfigCommit } from '../../core/settings.ts';
import type { ClaimedTurn, ConfigFiles, ConfigSituation, TurnStore } from '../../core/turn-store.ts';
import type { AccountSchedule } from '../../core/turns.ts';
import { sha256 } from '../../platform/digest.ts';
import type { Log } from '../log.ts';
import { type CompareCommits, type OwnFiles, rankOf } from './config-generation.ts';
import type { Identity } from './replica.ts';
import type { ScheduleTable } from './schedule-table.ts';

/** What a replica reads of its files, all of the same commit. */
export interface ReplicaConfiguration {
  readonly schedules: readonly AccountSchedule[];
  readonly commit: ConfigCommit | null;
}

export interface StoredConfigurationOptions {
  readonly store: Pick<TurnStore, 'situation' | 'update' | 'waiting' | 'stored' | 'isCurrent'>;
  readonly log: Log;
  readonly table: ScheduleTable;
  readonly readConfiguration: () => Promise<ReplicaConfiguration>;
  /** The commit that is checked out now. */
  readonly readCommit: () => Promise<ConfigCommit | null>;
  readonly compareCommits: CompareCommits;
}

export interface StoredConfiguration {
  /** The files have changed. */
  changed(): void;
  /** Reads what other replicas have stored; called after each beat. */
  look(replica: string | null): Promise<void>;
  /** Stores the configuration if it, or the place that it has among those of the replicas, may have changed. */
  store(identity: Identity): Promise<void>;
  /** The rank of the stored configuration. */
  generation(): number;
  isCurrent(replica: string, turn: ClaimedTurn): Promise<boolean>;
}

/** What this replica stored last. */
interface Stored {
  readonly replica: string;
  readonly changes: number;
  readonly situation: string;
  readonly commit: string | null;
  readonly accounts: readonly string[];
  /** Whether the newest configuration has other files of the same commit, or without one. */
  readonly differs: boolean;
}

export function createStoredConfiguration(options: StoredConfigurationOptions): StoredConfiguration {
  const { store, log, table } = options;
  /** How often the files have changed. */
  let changes = 0;
  /** null makes this replica store its configuration again. */
  let stored: Stored | null = null;
  let generation = 0;
  /** The last event about accounts that run elsewhere, and their number; null when there are none. */
  let reported: string | null = null;
  /** The last commit that was reported as unavailable. */
  let unavailable: string | null = null;
  /** The latest files of this process with a commit. */
  let committed: (ConfigFiles & { commit: ConfigCommit }) | null = null;

  async function readFiles(): Promise<OwnFiles & ReplicaConfiguration> {
    const { schedules, commit } = await options.readConfiguration();
    // An invalid file of one account is no reason to take the others from the replica that runs them.
    const flaws = Number(schedules.every(({ isBroken }) => isBroken)) + 2 * Number(commit?.dirty ?? true);
    const files = { commit, digest: digestOf(schedules), flaws };
    if (commit !== null) committed = { ...files, commit };
    // git fails now; the files are those of their commit.
    const known = commit === null && committed?.digest === files.digest ? committed : files;
    return { ...known, schedules, hadCommit: committed !== null };
  }

  /** Null when the situation changed meanwhile. */
  async function storeOnce(identity: Identity): Promise<Stored | null> {
    const replica = identity.id;
    const changesBefore = changes;
    const files = await readFiles();
    const { schedules, commit } = files;
    const before = await store.situation(replica);
    const rank = await rankOf(files, before, options.compareCommits);
    const own = { ...rank, ...files };
    if (!(await store.update(replica, before, own, table.due(schedules, identity.nowMs())))) return null;
    generation = rank.generation;
    const [latest] = before.generations;
    if (commit === null && latest !== undefined && latest.commit !== '' && generation > latest.gen)
      log.warn({ event: 'configuration_without_commit', commit: latest.commit }, WITHOUT_COMMIT);
    const newest = rank.isNewest ? rank.generation : newestOf(before);
    return {
      replica,
      changes: changesBefore,
      situation: signature(before, newest),
      commit: commit?.sha ?? null,
      accounts: schedules.map(({ name }) => name),
      differs: !rank.isNewest && before.generations[0]?.commit === (commit?.sha ?? ''),
    };
  }

  /** Logs which accounts only replicas with the newest configuration run, whenever that changes. */
  async function reportWaiting({ commit, accounts: own, differs }: Stored): Promise<void> {
    const waiting = await store.waiting(generation, own);
    const event = differs ? 'configuration_differs' : 'configuration_older';
    const { newer: accounts, names } = waiting;
    const report = differs || accounts > 0 ? `${event} ${accounts}` : null;
    if (report !== null && report !== reported)
      log.warn({ event, commit, accounts, names }, differs ? DIFFERS : OLDER);
    if (waiting.commit !== null && waiting.commit !== unavailable)
      log.error(
        { event: 'commit_unavailable', commit: waiting.commit, accounts: waiting.unavailable },
        'accounts do not run, because no replica has the commit that changed them; check out that commit or a later one, or revert it with a new commit',
      );
    reported = report;
    unavailable = waiting.commit;
    // The commit may be fetched now, or no replica may have its history any more.
    if (reported !== null) stored = null;
  }

  /** Only the commit has changed, or git works again. */
  async function hasOtherCommit({ commit }: Stored): Promise<boolean> {
    const now = await options.readCommit();
    return now !== null && now.sha !== commit;
  }

  return {
    changed() {
      changes += 1;
    },
    async look(replica) {
      table.setStored(await store.stored());
      const last = stored;
      if (replica === null || last === null) return;
      const situation = await store.situation(replica);
      // Another replica has come or gone, or has another commit.
      if (last.situation !== signature(situation, newestOf(situation)) || (await hasOtherCommit(last)))
        stored = null;
      else await reportWaiting(last);
    },
    async store(identity) {
      while (stored?.replica !== identity.id || stored.changes !== changes) {
        stored = await storeOnce(identity);
        if (stored !== null) table.setStored(await store.stored());
      }
    },
    generation: () => generation,
    // A changed configuration is stored first, since its files may be older now.
    async isCurrent(replica, turn) {
      const last = stored;
      if (last === null || last.changes !== changes) return false;
      if (!(await hasOtherCommit(last))) return await store.isCurrent(replica, turn, generation);
      changes += 1;
      return false;
    },
  };
}

const OLDER = 'accounts that the newest configuration changed wait for a replica that has it';
const WITHOUT_COMMIT =
  'the files of this replica count from now on although they have no commit, because no live replica has one; `commit` was the latest';
const DIFFERS =
  'other replicas have different files of the same commit, or without one; while one of them has these files, accounts that differ run only there';

/** What decides how accounts run. An invalid file has no settings, and its errors may name a path of this machine. */
function digestOf(schedules: readonly AccountSchedule[]): string {
  const parts = schedules.map(({ name, lane, digest, isBroken }) =>
    JSON.stringify(isBroken ? [name] : [name, lane, digest]),
  );
  return sha256(parts.toSorted().join('\n'));
}

function newestOf({ generations }: ConfigSituation): number {
  return generations[0]?.gen ?? 0;
}

function signature({ others }: ConfigSituation, newest: number): string {
  return JSON.stringify([newest, others]);
}
