// The configuration of the daemon. It is read again for each run, so that a `git pull` is enough to change it; while
// the files are unchanged, that costs almost nothing.
import path from 'node:path';
import type { CheckoutPlace, CommitPlace, CommitReader, CommitRelation } from '../core/ports/repository.ts';
import type { ConfigCommit, Configuration } from '../core/settings.ts';
import type { ConfigurationFiles } from './configuration-files.ts';
import { filesOnDisk, pinnedPath } from './files-on-disk.ts';
import { type KeptLoad, type LoadTarget, currentDay, isUpToDate, loadFiles } from './load-files.ts';

export interface ConfigurationSource {
  /** Reads and parses the files that changed. Returns the same object as last time if none has changed. */
  read(): Promise<Configuration>;
  /**
   * The current configuration for this account. Checks the service file, the account file and the catalogs that it
   * extends, and reads the other files only if one of these changed. An unknown account costs a `read`. Concurrent
   * calls are allowed.
   */
  readFor(account: string): Promise<Configuration>;
  /**
   * The commit of the configuration, or null. With a checkout it is the commit of `loaded`, otherwise the commit that
   * is checked out now. A change outside of git's state and of the files that were read is noticed after ten seconds.
   */
  commit(loaded?: object): Promise<ConfigCommit | null>;
  /** How two commits of the configuration's repository are related; see CommitReader. */
  compareCommits(older: string, newer: string): Promise<CommitRelation>;
}

export interface WatchedSource extends ConfigurationSource {
  /** The names of all files of the last reading, with what the file system records of each: differs after any change. */
  stamps(): Promise<string>;
}

/** The part of the daemon's own checkout that a source uses; see git/checkout.ts. */
export interface CheckoutInUse extends Omit<CheckoutPlace, 'folder'> {
  current(): { readonly folder: string } | null;
}

export interface SourceOptions {
  /** The daemon's checkout; see `readServiceLayers` for the settings that come from it. */
  readonly checkout?: CheckoutInUse;
  /** `YYYY-MM-DD` in UTC; for tests. */
  readonly today?: () => string;
}

/** `file` is the service file, relative to the working directory or absolute. Nothing is read before the first call. */
export function createConfigurationSource(
  file: string,
  commits: CommitReader,
  options: SourceOptions = {},
): WatchedSource {
  const { checkout, today = currentDay } = options;
  const serviceFile = path.resolve(file);
  /** The files of each loaded configuration, for questions to git. */
  const places = new WeakMap<object, CommitPlace>();
  let kept: KeptLoad | undefined;
  let generation = 0;
  let running: Promise<unknown> = Promise.resolve();
  let waiting: Promise<Configuration> | undefined;

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

  const load = async (): Promise<Configuration> => {
    const currentTarget = target();
    const before = kept;
    kept = await loadFiles(currentTarget, before);
    const { loaded } = kept;
    if (loaded !== before?.loaded) generation += 1;
    places.set(loaded, commitPlace(loaded, currentTarget, generation));
    return loaded;
  };

  const read = (): Promise<Configuration> => {
    // A call during a load waits for the next load, since the running one may have read the changed file already.
    waiting ??= running.then(() => {
      const loading = load();
      waiting = undefined;
      running = loading.catch(() => undefined);
      return loading;
    });
    return waiting;
  };

  const readFor = async (account: string): Promise<Configuration> => {
    return kept !== undefined && isUpToDate(kept, account, target()) ? kept.loaded : read();
  };

  const placeOf = async (loaded: object | undefined): Promise<CommitPlace> => {
    const known = loaded ?? kept?.loaded ?? (await read());
    return places.get(known) ?? { file: serviceFile, others: [], generation };
  };

  return {
    read,
    readFor,
    stamps: async () => (kept === undefined ? '' : stampsOf(kept, target().files)),
    commit: async (loaded) => commits.commitAt(await placeOf(loaded)),
    compareCommits: async (older, newer) => commits.compare(await placeOf(undefined), older, newer),
  };
}

function commitPlace(
  { accounts }: Configuration,
  { file, checkout }: LoadTarget,
  generation: number,
): CommitPlace {
  const others = [...new Set(accounts.flatMap(({ files = [] }) => files))];
  if (!checkout) return { file, others, generation };
  const locate = (each: string): string => pinnedPath(checkout, each);
  // The checkout may have no rolecall.yaml; any of its valid account files leads to the same commit.
  const valid = accounts.find(({ settings }) => settings !== undefined);
  const tracked = valid?.file ?? path.join(checkout.link, checkout.path, 'rolecall.yaml');
  return { file: locate(tracked), others, locate, generation };
}

/** Every file of a load with its stamp. */
function stampsOf({ service, accounts }: KeptLoad, files: ConfigurationFiles): string {
  const all = new Set([service, ...accounts.values()].flatMap(({ digests }) => [...digests.keys()]));
  return [...all].map((file) => `${file} ${files.stamp(file) ?? ''}`).join('\n');
}
