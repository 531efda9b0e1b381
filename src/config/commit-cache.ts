// The commit of the configuration, for a daemon that starts many runs in a second: git is asked when something may have
// changed, and not for each of them.
import type { ConfigCommit } from '../core/settings.ts';
import { readConfigCommit } from './git-commit.ts';
import { gitFingerprint } from './git-fingerprint.ts';

/** Within this time, what changes neither the repository nor a loaded file may go unseen, such as a new stray file. */
const FRESH_MS = 10_000;

export interface CommitPlace {
  /** A file that stands in git when the configuration does. */
  readonly file: string;
  /** Further files; their folders are looked at for changes. */
  readonly others: readonly string[];
  /** Another number for another content of the files. */
  readonly generation: number;
}

/** Asks git at most once for the same state, however many ask at once. Null when the file does not stand in git. */
export function createCommitCache(nowMs: () => number): (place: CommitPlace) => Promise<ConfigCommit | null> {
  let last: { readonly key: string; readonly askedMs: number; readonly answer: Promise<ConfigCommit | null> };
  last = { key: '', askedMs: 0, answer: Promise.resolve(null) };
  return ({ file, others, generation }) => {
    // Taken before git is asked: what changes meanwhile makes another key for the next one who asks.
    const key = [generation, file, gitFingerprint(file)].join('\0');
    const age = nowMs() - last.askedMs;
    if (key !== last.key || age < 0 || age >= FRESH_MS) {
      const answer = readConfigCommit(file, others).then((commit) => commit ?? null);
      last = { key, askedMs: nowMs(), answer };
    }
    return last.answer;
  };
}
