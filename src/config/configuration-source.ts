// The configuration as the daemon reads it: anew for each run, so that a `git pull` is enough, and for next to nothing
// while nothing has changed (contract, section 7).
import path from 'node:path';
import type { CommitPlace, CommitReader, CommitRelation } from '../core/repository.ts';
import type { ConfigCommit } from '../core/settings.ts';
import { filesOnDisk, pinnedPath } from './files-on-disk.ts';
import type { LoadedConfiguration } from './join-accounts.ts';
import { currentDay } from './load-configuration.ts';
import { type KeptLoad, type LoadTarget, isUpToDate, loadFiles } from './load-files.ts';

export interface ConfigurationSource {
  /** Looks at all files anew and parses those that have changed. The same object as last time when none has. */
  read(): Promise<LoadedConfiguration>;
  /**
   * The configuration as it is for this account now. Looks at the service's file, at the account's and at the catalogs
   * that it extends, and only when one of them has changed at all the others. An account that is not there costs a
   * `read`. Many may ask at once.
   */
  readFor(account: string): Promise<LoadedConfiguration>;
  /**
   * The commit that the configuration stands in, or null. With a checkout it is that of `loaded`, else what is checked
   * out now. What changes neither git's own state nor a file that was read is seen after ten seconds.
   */
  commit(loaded?: object): Promise<ConfigCommit | null>;
  /** How two commits of the configuration's repository stand to each other; see CommitReader. */
  compareCommits(older: string, newer: string): Promise<CommitRelation>;
}

/** What a source has to know of the daemon's own checkout; see git/checkout.ts. */
export interface CheckoutInUse {
  /** Leads to the folder of the current commit, and keeps its path when that changes. */
  readonly link: string;
  /** The folder of the configuration in the repository. */
  readonly path: string;
  current(): { readonly folder: string } | null;
  removeUnused(inUse: ReadonlySet<string>): Promise<void>;
}

export interface SourceOptions {
  /** The daemon's checkout; see `readServiceLayers` for what is taken from it. */
  readonly checkout?: CheckoutInUse;
  /** `YYYY-MM-DD` in UTC; for tests. */
  readonly today?: () => string;
}

/** `file` is the service's file, relative to the working directory or absolute. Nothing is read until it is asked for. */
export function createConfigurationSource(
  file: string,
  commits: CommitReader,
  options: SourceOptions = {},
): ConfigurationSource {
  const { checkout, today = currentDay } = options;
  const serviceFile = path.resolve(file);
  /** Where the files of a configuration are, for git. */
  const places = new WeakMap<object, CommitPlace>();
  let kept: KeptLoad | undefined;
  let generation = 0;
  let running: Promise<unknown> = Promise.resolve();
  let waiting: Promise<LoadedConfiguration> | undefined;

  const target = (): LoadTarget => {
    const current = checkout?.current();
    const place = checkout && current ? { link: checkout.link, path: checkout.path, ...current } : undefined;
    return {
      file: serviceFile,
      files: filesOnDisk(place, serviceFile),
      today: today(),
      checkout: checkout === undefined ? undefined : (place ?? null),
    };
  };

  const load = async (): Promise<LoadedConfiguration> => {
    const aim = target();
    const before = kept;
    kept = await loadFiles(aim, before);
    const { loaded } = kept;
    if (loaded !== before?.loaded) generation += 1;
    places.set(loaded, commitPlace(loaded, aim, generation));
    // Once for each update: this is the only reader of the folders.
    if (kept.checkout !== undefined && kept.checkout !== before?.checkout) {
      void checkout?.removeUnused(new Set([kept.checkout]));
    }
    return loaded;
  };

  const read = (): Promise<LoadedConfiguration> => {
    // Who asks while a load runs waits for the next one: the running one may have passed the file that has changed.
    waiting ??= running.then(() => {
      const loading = load();
      waiting = undefined;
      running = loading.catch(() => undefined);
      return loading;
    });
    return waiting;
  };

  const readFor = async (account: string): Promise<LoadedConfiguration> =>
    kept !== undefined && isUpToDate(kept, account, target()) ? kept.loaded : read();

  const placeOf = async (loaded: object | undefined): Promise<CommitPlace> => {
    const known = loaded ?? kept?.loaded ?? (await read());
    return places.get(known) ?? { file: serviceFile, others: [], generation };
  };

  return {
    read,
    readFor,
    commit: async (loaded) => commits.commitAt(await placeOf(loaded)),
    compareCommits: async (older, newer) => commits.compare((await placeOf(undefined)).file, older, newer),
  };
}

function commitPlace(
  { accounts }: LoadedConfiguration,
  { file, checkout }: LoadTarget,
  generation: number,
): CommitPlace {
  // One file of each folder is enough, since git is asked about folders.
  const folders = new Map(accounts.map((account) => [path.dirname(account.file), account.file]));
  const others = [...folders.values()];
  if (!checkout) return { file, others, generation };
  const real = others.map((other) => pinnedPath(checkout, other));
  const inner = path.join(checkout.folder, checkout.path, 'rolecall.yaml');
  // The checkout need not have a file for the service; any of its accounts tells the same.
  const tracked = real.find((other) => other.startsWith(checkout.folder + path.sep)) ?? inner;
  return { file: tracked, others: [inner, ...real], generation };
}
