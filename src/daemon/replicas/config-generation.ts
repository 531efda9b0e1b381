// Which of the replicas has the newest configuration. Its files replace those that were the newest: with a commit that
// follows theirs, with fewer flaws, or once no other replica has them any more.
import type { CommitRelation } from '../../core/repository.ts';
import type { ConfigCommit } from '../../core/settings.ts';
import {
  type ConfigFiles,
  type ConfigGeneration,
  type ConfigRank,
  type ConfigSituation,
  GENERATION,
  type StoredFiles,
} from '../../core/turn-store.ts';

/** The relation of commit `a` to commit `b`: `ancestor` means that `b` descends from `a`. */
export type CompareCommits = (a: string, b: string) => Promise<CommitRelation>;

/** Files, and whether git had a commit for earlier ones of this process: then those without one may be older than any. */
export type OwnFiles = ConfigFiles & { readonly hadCommit: boolean };

/** The rank of a configuration. Of different files, only one is the newest. */
export async function rankOf(
  own: OwnFiles,
  { generations, others }: ConfigSituation,
  compareCommits: CompareCommits,
): Promise<ConfigRank> {
  const [newest, ...earlier] = generations;
  if (newest === undefined) return { generation: GENERATION, isNewest: true };
  const isSame = own.commit === null || own.commit.sha === newest.commit;
  if (isSame && own.digest === newest.digest) return { generation: newest.gen, isNewest: true };
  const files = others.flatMap((other) => other.files ?? []);
  const replaces =
    own.commit === null
      ? !own.hadCommit && filesReplace(own, newest, files)
      : await commitReplaces({ ...own, commit: own.commit }, generations, files, compareCommits);
  if (replaces) return { generation: newest.gen + GENERATION, isNewest: true };
  return { generation: await containedIn(own.commit, newest, earlier, compareCommits), isNewest: false };
}

/** Files without a commit follow a commit that no other replica has, because a team may stop using git. */
function filesReplace(own: ConfigFiles, newest: ConfigGeneration, others: readonly StoredFiles[]): boolean {
  return others.every((other) => other.commit === '') && countsMore(own, newest, others);
}

/** Whether files count more than the newest, whose commit is the same or also missing. */
function countsMore(own: ConfigFiles, newest: ConfigGeneration, others: readonly StoredFiles[]): boolean {
  const isInUse = others.some(
    ({ commit, digest }) => digest === newest.digest && (commit === newest.commit || commit === ''),
  );
  return !isInUse || own.flaws < newest.flaws;
}

async function commitReplaces(
  own: ConfigFiles & { readonly commit: ConfigCommit },
  generations: readonly ConfigGeneration[],
  others: readonly StoredFiles[],
  compareCommits: CompareCommits,
): Promise<boolean> {
  const { commit } = own;
  const [newest] = generations;
  // Files without a commit do not make an older commit newer.
  const latest = generations.find((each) => each.commit !== '');
  if (newest === undefined || latest === undefined) return true;
  if (latest.commit === commit.sha) return newest.commit === '' || countsMore(own, newest, others);
  const relation = await compareCommits(latest.commit, commit.sha);
  if (relation === 'ancestor') return true;
  const isOfAll = others.every((other) => other.commit === commit.sha || other.commit === '');
  return isOfAll && isRewritten(commit, latest, relation);
}

/** Whether a commit that all replicas have replaces the latest one. An older commit never does. */
function isRewritten(commit: ConfigCommit, latest: ConfigGeneration, relation: CommitRelation): boolean {
  // An unknown commit was removed from the history, or was not fetched yet.
  return relation === 'diverged' || (relation === 'unknown' && isLater(commit, latest));
}

/**
 * The latest generation, other than the newest, that a commit contains. Other files of the newest commit have the number
 * before its generation: they run what does not differ. So do files that contain none, as far as the oldest did not change
 * it.
 */
async function containedIn(
  commit: ConfigCommit | null,
  newest: ConfigGeneration,
  earlier: readonly ConfigGeneration[],
  compareCommits: CompareCommits,
): Promise<number> {
  if ((commit?.sha ?? '') === newest.commit) return newest.gen - 1;
  const beforeAll = (earlier.at(-1) ?? newest).gen - 1;
  if (commit === null) return beforeAll;
  for (const each of earlier) {
    if (each.commit === '') continue;
    if (each.commit === commit.sha) return each.gen;
    const relation = await compareCommits(each.commit, commit.sha);
    if (relation === 'ancestor' || relation === 'same') return each.gen;
    if (relation === 'unknown' && isLater(commit, each)) return each.gen;
  }
  return beforeAll;
}

/** In a shallow clone, and where a commit was not fetched yet, only the dates of the commits can be compared. */
function isLater(commit: ConfigCommit, than: ConfigGeneration): boolean {
  return Date.parse(commit.committedAt) > Date.parse(than.committedAt);
}
