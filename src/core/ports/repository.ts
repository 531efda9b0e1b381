// The interfaces of the git repository of a configuration.
import type { ConfigCommit } from '../settings.ts';

/** How one commit of the configuration relates to another. */
export type CommitRelation = 'same' | 'ancestor' | 'descendant' | 'diverged' | 'unknown';

/** The files of a configuration whose commit is requested. */
export interface CommitPlace {
  /** A file that is tracked by git if the configuration is. */
  readonly file: string;
  /** Further files that are compared with the commit. */
  readonly others: readonly string[];
  /** Where these are read, if not at their paths. */
  readonly locate?: (file: string) => string;
  /** Changes whenever the content of the files changes. */
  readonly generation: number;
}

/** Reads the commits of a configuration. */
export interface CommitReader {
  /** Null when the file is not tracked by git. */
  commitAt(place: CommitPlace): Promise<ConfigCommit | null>;
  /** How two commits of the repository of these files relate. */
  compare(place: CommitPlace, older: string, newer: string): Promise<CommitRelation>;
}

/** A folder with a second path: files below `link` are read below `folder`. */
export interface PinnedFolder {
  readonly link: string;
  readonly folder: string;
}

/** Where the daemon's checkout is read: `path` is the folder of the configuration in it. */
export interface CheckoutPlace extends PinnedFolder {
  readonly path: string;
}
