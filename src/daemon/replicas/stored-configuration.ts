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
  /** Whether replicas with the newest configuration have the same commit, or none either, and yet other files. */
  readonly differs: boolean;
}

export function createStoredConfiguration(options: StoredConfigurationOptions): StoredConfiguration {
  const { store, log, table } = options;
  /** How often the files have changed. */
  let changes = 0;
  /** null makes this replica store its configuration again. */
  let stored: Stored | null = null;
  let generation = 0;
  /** The last message about accounts that wait. */
  let told: string | null = null;
  let unavailable: string | null = null;
  /** The latest files of this process with a commit. */
  let committed: (ConfigFiles & { commit: ConfigCommit }) | null = null;

  async function readFiles(): Promise<OwnFiles & ReplicaConfiguration> {
    const { schedules, commit } = await options.readConfiguration();
    const flaws = Number(schedules.some(({ isBroken }) => isBroken)) + 2 * Number(commit?.dirty ?? true);
    const files = { commit, digest: digestOf(schedules), flaws };
    if (commit !== null) committed = { ...files, commit };
    // git fails now; the files are those of their commit.
    const known = commit === null && committed?.digest === files.digest ? committed : files;
    return { ...known, schedules, hadCommit: committed !== null };
  }

  /** Null when the situation changed meanwhile. */
  async function storeOnce(identity: Identity): Promise<Stored | null> {
    const replica = identity.id;
    const stage = changes;
    const files = await readFiles();
    const { schedules, commit } = files;
    const before = await store.situation(replica);
    const rank = await rankOf(files, before, options.compareCommits);
    const own = { ...rank, ...files };
    if (!(await store.update(replica, before, own, table.due(schedules, identity.nowMs())))) return null;
    generation = rank.generation;
    const newest = rank.isNewest ? rank.generation : newestOf(before);
    return {
      replica,
      changes: stage,
      situation: signature(before, newest),
      commit: commit?.sha ?? null,
      differs: !rank.isNewest && before.generations[0]?.commit === (commit?.sha ?? ''),
    };
  }

  /** Notices accounts that only replicas with the newest configuration run. */
  async function noticeWaiting({ commit, differs }: Stored): Promise<void> {
    const waiting = await store.waiting(generation);
    const event = differs ? 'configuration_differs' : 'configuration_older';
    const { newer: accounts, names } = waiting;
    const news = differs || accounts > 0 ? JSON.stringify([event, accounts]) : null;
    if (news !== null && told !== news)
      log.warn({ event, commit, accounts, names }, differs ? DIFFERS : OLDER);
    if (waiting.commit !== null && waiting.commit !== unavailable)
      log.error(
        { event: 'commit_unavailable', commit: waiting.commit, accounts: waiting.unavailable },
        'accounts do not run, because no replica has the commit that changed them; check out that commit or a later one, or revert it with a new commit',
      );
    told = news;
    unavailable = waiting.commit;
    // The commit may be fetched now, or no replica may have its history any more.
    if (told !== null) stored = null;
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
      if (last.situation !== signature(situation, newestOf(situation))) stored = null;
      else await noticeWaiting(last);
    },
    async store(identity) {
      while (stored?.replica !== identity.id || stored.changes !== changes) {
        stored = await storeOnce(identity);
        if (stored !== null) table.setStored(await store.stored());
      }
    },
    generation: () => generation,
    // A changed configuration is stored first, since its files may be older now.
    isCurrent: async (replica, turn) =>
      stored?.changes === changes && (await store.isCurrent(replica, turn, generation)),
  };
}

const OLDER = 'accounts that a newer commit changed wait for a replica that has it';
const DIFFERS =
  'other replicas have other files of the same commit, or also without one; as long as one has them, what differs runs only there';

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
