// Which generation of the configuration this replica has. A commit makes a new generation only when it follows the newest.
import type { CommitRelation } from '../../core/repository.ts';
import type { ConfigCommit } from '../../core/settings.ts';
import type { ConfigGeneration, TurnStore } from '../../core/turn-store.ts';

export interface GenerationOptions {
  readonly store: Pick<TurnStore, 'generations' | 'addGeneration' | 'isCommitOfAll'>;
  readonly replicaId: string;
  /** The relation of commit `a` to commit `b`: `ancestor` means that `b` descends from `a`. */
  readonly compareCommits: (a: string, b: string) => Promise<CommitRelation>;
}

/**
 * The generation of a commit; a new one when the commit descends from the newest. An older commit has the generation of
 * the latest that it contains. Without git, the configuration that was read last counts.
 */
export async function findGeneration(
  commit: ConfigCommit | null,
  options: GenerationOptions,
): Promise<number> {
  const { store } = options;
  for (;;) {
    const known = await store.generations();
    const [newest] = known;
    if (commit === null) return newest?.gen ?? 0;
    const same = known.find((each) => each.commit === commit.sha);
    if (same !== undefined) return same.gen;
    if (newest === undefined || (await isNewer(commit, newest, options))) {
      const after = newest?.gen ?? 0;
      const next = { commit: commit.sha, committedAt: commit.committedAt };
      if (await store.addGeneration(after, next)) return after + 1;
      // Another replica has added one meanwhile.
      continue;
    }
    for (const each of known) {
      if (follows(await options.compareCommits(each.commit, commit.sha), commit, each)) return each.gen;
    }
    return 0;
  }
}

/** A rewritten history becomes the newest once all replicas have it: no later commit would follow the one it replaces. */
async function isNewer(
  commit: ConfigCommit,
  newest: ConfigGeneration,
  { store, replicaId, compareCommits }: GenerationOptions,
): Promise<boolean> {
  const relation = await compareCommits(newest.commit, commit.sha);
  if (relation === 'diverged') return await store.isCommitOfAll(replicaId, commit.sha);
  return follows(relation, commit, newest);
}

/** In a shallow clone, and where a commit was not fetched yet, only the dates of the commits can be compared. */
function follows(relation: CommitRelation, commit: ConfigCommit, earlier: ConfigGeneration): boolean {
  if (relation !== 'unknown') return relation === 'ancestor' || relation === 'same';
  return Date.parse(commit.committedAt) > Date.parse(earlier.committedAt);
}
