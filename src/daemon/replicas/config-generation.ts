// Which of the replicas has the newest configuration. A commit becomes the newest when it follows the newest one, or when
// no replica that is alive has another.
import type { Clock } from '../../core/ports.ts';
import type { CommitRelation } from '../../core/repository.ts';
import type { ConfigCommit } from '../../core/settings.ts';
import type { ConfigGeneration, ConfigRank, ConfigSituation } from '../../core/turn-store.ts';

export interface ConfigGenerationsOptions {
  readonly clock: Pick<Clock, 'steadyMs'>;
  readonly leaseMs: number;
  /** The relation of commit `a` to commit `b`: `ancestor` means that `b` descends from `a`. */
  readonly compareCommits: (a: string, b: string) => Promise<CommitRelation>;
}

export interface ConfigGenerations {
  /** The rank of a configuration; without a commit it is older than any, unless no replica has one. */
  rank(commit: ConfigCommit | null, situation: ConfigSituation): Promise<ConfigRank>;
}

export function createConfigGenerations(options: ConfigGenerationsOptions): ConfigGenerations {
  const { clock, leaseMs, compareCommits } = options;
  /** Since when all replicas have an older commit than one that they know. */
  let returned: { readonly key: string; readonly sinceMs: number } | null = null;

  /** Right after a fetch, a newer commit is known that is checked out a moment later. */
  function isReturnedForLong(commit: ConfigCommit, newest: ConfigGeneration): boolean {
    const key = `${commit.sha} ${newest.gen}`;
    if (returned?.key !== key) returned = { key, sinceMs: clock.steadyMs() };
    return clock.steadyMs() - returned.sinceMs >= leaseMs;
  }

  /** Whether a commit that all replicas have replaces the newest one, which it does not contain. */
  function replaces(commit: ConfigCommit, newest: ConfigGeneration, relation: CommitRelation): boolean {
    switch (relation) {
      case 'diverged':
        return true;
      case 'unknown':
        // Otherwise the newest commit was perhaps not fetched yet.
        return isLater(commit, newest);
      case 'descendant':
        return isReturnedForLong(commit, newest);
      case 'same':
      case 'ancestor':
        return true;
    }
  }

  /** The latest generation, other than the newest, that a commit contains. */
  async function containedIn(commit: ConfigCommit, earlier: readonly ConfigGeneration[]): Promise<number> {
    for (const each of earlier) {
      if (each.commit === commit.sha) return each.gen;
      const relation = await compareCommits(each.commit, commit.sha);
      if (relation === 'ancestor' || relation === 'same') return each.gen;
      if (relation === 'unknown' && isLater(commit, each)) return each.gen;
    }
    return 0;
  }

  return {
    async rank(commit, { generations, others }) {
      const [newest, ...earlier] = generations;
      if (commit === null) {
        const isAlone = others.every((other) => other.commit === null || other.commit === '');
        return isAlone
          ? { generation: newest?.gen ?? 0, isNewest: true }
          : { generation: 0, isNewest: false };
      }
      if (newest === undefined) return { generation: 1, isNewest: true };
      if (newest.commit === commit.sha) return { generation: newest.gen, isNewest: true };
      const relation = await compareCommits(newest.commit, commit.sha);
      const isOfAll = others.every((other) => other.commit === commit.sha || other.commit === '');
      if (relation === 'ancestor' || (isOfAll && replaces(commit, newest, relation)))
        return { generation: newest.gen + 1, isNewest: true };
      return { generation: await containedIn(commit, earlier), isNewest: false };
    },
  };
}

/** In a shallow clone, and where a commit was not fetched yet, only the dates of the commits can be compared. */
function isLater(commit: ConfigCommit, than: ConfigGeneration): boolean {
  return Date.parse(commit.committedAt) > Date.parse(than.committedAt);
}
