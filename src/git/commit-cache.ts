// The commit of the configuration, for a daemon that starts many runs in a second: git is asked when something may have
// changed, and not for each of them.
import type { CommitReader } from '../core/repository.ts';
import type { ConfigCommit } from '../core/settings.ts';
import { compareCommits, readConfigCommit } from './commit.ts';
import { gitFingerprint } from './fingerprint.ts';

/** Within this time, what changes neither the repository nor a loaded file may go unseen, such as a new stray file. */
const FRESH_MS = 10_000;

/** Asks git at most once for the same state, however many ask at once. `nowMs` is for tests. */
export function createCommitReader(nowMs: () => number = Date.now): CommitReader {
  let last: { readonly key: string; readonly askedMs: number; readonly answer: Promise<ConfigCommit | null> };
  last = { key: '', askedMs: 0, answer: Promise.resolve(null) };
  const commitAt: CommitReader['commitAt'] = ({ file, others, generation }) => {
    // Taken before git is asked: what changes meanwhile makes another key for the next one who asks.
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
