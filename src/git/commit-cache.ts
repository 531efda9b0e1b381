// Caches the commit of the configuration, for a daemon that starts many runs per second: git runs only if the commit
// may have changed.
import type { CommitReader } from '../core/repository.ts';
import type { ConfigCommit } from '../core/settings.ts';
import { compareCommits, readConfigCommit } from './commit.ts';
import { gitFingerprint } from './fingerprint.ts';

/**
 * A change outside of git's state and of the loaded files, such as a new untracked file, is noticed after this time.
 */
const FRESH_MS = 10_000;

/** Runs git at most once for the same state; concurrent calls share the result. `nowMs` is for tests. */
export function createCommitReader(nowMs: () => number = Date.now): CommitReader {
  let last: { readonly key: string; readonly askedMs: number; readonly answer: Promise<ConfigCommit | null> };
  last = { key: '', askedMs: 0, answer: Promise.resolve(null) };
  const commitAt: CommitReader['commitAt'] = ({ file, others, generation }) => {
    // Computed before git runs, so that a change during the call gives the next caller another key.
    const key = [generation, file, gitFingerprint(file)].join('\0');
    const age = nowMs() - last.askedMs;
    if (key !== last.key || age < 0 || age >= FRESH_MS) {
      const answer = readConfigCommit(file, others).then((commit) => commit ?? null);
      last = { key, askedMs: nowMs(), answer };
    }
    return last.answer;
  };
  return { commitAt, compare: compareCommits };
}
