// Which of the replicas has the newest configuration. A commit becomes the newest when it follows the newest one, or when it
// replaces a history that no replica has any more.
import type { CommitRelation } from '../../core/repository.ts';
import type { ConfigCommit } from '../../core/settings.ts';
import type { ConfigGeneration, ConfigRank, ConfigSituation } from '../../core/turn-store.ts';

/** The relation of commit `a` to commit `b`: `ancestor` means that `b` descends from `a`. */
export type CompareCommits = (a: string, b: string) => Promise<CommitRelation>;

/** The rank of a configuration; without a commit it is older than any, unless no replica has one. */
export async function rankOf(
  commit: ConfigCommit | null,
  { generations, others }: ConfigSituation,
  compareCommits: CompareCommits,
): Promise<ConfigRank> {
  const [newest, ...earlier] = generations;
  if (commit === null) {
    const isAlone = others.every((other) => other.commit === null || other.commit === '');
    return isAlone ? { generation: newest?.gen ?? 0, isNewest: true } : { generation: 0, isNewest: false };
  }
  if (newest === undefined) return { generation: 1, isNewest: true };
  if (newest.commit === commit.sha) return { generation: newest.gen, isNewest: true };
  const relation = await compareCommits(newest.commit, commit.sha);
  const isOfAll = others.every((other) => other.commit === commit.sha || other.commit === '');
  if (relation === 'ancestor' || (isOfAll && isRewritten(commit, newest, relation)))
    return { generation: newest.gen + 1, isNewest: true };
  return { generation: await containedIn(commit, earlier, compareCommits), isNewest: false };
}

/** Whether a commit that all replicas have replaces the newest one. An older commit never does. */
function isRewritten(commit: ConfigCommit, newest: ConfigGeneration, relation: CommitRelation): boolean {
  // An unknown commit was removed from the history, or was not fetched yet.
  return relation === 'diverged' || (relation === 'unknown' && isLater(commit, newest));
}

/** The latest generation, other than the newest, that a commit contains. */
async function containedIn(
  commit: ConfigCommit,
  earlier: readonly ConfigGeneration[],
  compareCommits: CompareCommits,
): Promise<number> {
  for (const each of earlier) {
    if (each.commit === commit.sha) return each.gen;
    const relation = await compareCommits(each.commit, commit.sha);
    if (relation === 'ancestor' || relation === 'same') return each.gen;
    if (relation === 'unknown' && isLater(commit, each)) return each.gen;
  }
  return 0;
}

/** In a shallow clone, and where a commit was not fetched yet, only the dates of the commits can be compared. */
function isLater(commit: ConfigCommit, than: ConfigGeneration): boolean {
  return Date.parse(commit.committedAt) > Date.parse(than.committedAt);
}
