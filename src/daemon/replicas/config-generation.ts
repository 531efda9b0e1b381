// Which of the replicas has the newest configuration. Its files replace those that were the newest: with a commit that
// follows theirs, or once no other replica has them any more.
import type { CommitRelation } from '../../core/repository.ts';
import type { ConfigCommit } from '../../core/settings.ts';
import type {
  ConfigFiles,
  ConfigGeneration,
  ConfigRank,
  ConfigSituation,
  StoredFiles,
} from '../../core/turn-store.ts';

/** The relation of commit `a` to commit `b`: `ancestor` means that `b` descends from `a`. */
export type CompareCommits = (a: string, b: string) => Promise<CommitRelation>;

/** The rank of a configuration. Equal files have the same rank, and different ones never do. */
export async function rankOf(
  own: ConfigFiles,
  { generations, others }: ConfigSituation,
  compareCommits: CompareCommits,
): Promise<ConfigRank> {
  const [newest, ...earlier] = generations;
  if (newest === undefined) return { generation: 1, isNewest: true };
  if (own.digest === newest.digest && (own.commit?.sha ?? '') === newest.commit)
    return { generation: newest.gen, isNewest: true };
  const files = others.flatMap((other) => other.files ?? []);
  if (await replaces(own, newest, files, compareCommits))
    return { generation: newest.gen + 1, isNewest: true };
  return { generation: await containedIn(own.commit, newest, earlier, compareCommits), isNewest: false };
}

async function replaces(
  { commit }: ConfigFiles,
  newest: ConfigGeneration,
  others: readonly StoredFiles[],
  compareCommits: CompareCommits,
): Promise<boolean> {
  const isInUse = others.some((other) => other.commit === newest.commit && other.digest === newest.digest);
  if (commit === null) return !isInUse && others.every((other) => other.commit === '');
  if (newest.commit === '') return true;
  // A commit counts more than edits of it, which otherwise stay in use as long as a replica has them.
  if (newest.commit === commit.sha) return !isInUse || (newest.isDirty && !commit.dirty);
  const relation = await compareCommits(newest.commit, commit.sha);
  if (relation === 'ancestor') return true;
  const isOfAll = others.every((other) => other.commit === commit.sha || other.commit === '');
  return isOfAll && isRewritten(commit, newest, relation);
}

/** Whether a commit that all replicas have replaces the newest one. An older commit never does. */
function isRewritten(commit: ConfigCommit, newest: ConfigGeneration, relation: CommitRelation): boolean {
  // An unknown commit was removed from the history, or was not fetched yet.
  return relation === 'diverged' || (relation === 'unknown' && isLater(commit, newest));
}

/** The latest generation, other than the newest, that a commit contains. Without a commit, the files follow others. */
async function containedIn(
  commit: ConfigCommit | null,
  newest: ConfigGeneration,
  earlier: readonly ConfigGeneration[],
  compareCommits: CompareCommits,
): Promise<number> {
  if (commit === null) return newest.commit === '' ? newest.gen - 1 : 0;
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
