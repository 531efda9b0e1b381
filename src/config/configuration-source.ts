// The configuration of the daemon. It is read again for each run, so that a `git pull` is enough to change it; while
// the files are unchanged, that costs almost nothing. While files change it stays on the configuration that it used last:
// an editor or `git pull` may have written only a part of them, and a name that is missing for a moment would be deleted
// and created again.
import path from 'node:path';
import type { CheckoutPlace, CommitPlace, CommitReader, CommitRelation } from '../core/ports/repository.ts';
import type { ConfigCommit, Configuration } from '../core/settings.ts';
import type { ConfigurationFiles } from './configuration-files.ts';
import { filesOnDisk, pinnedPath } from './files-on-disk.ts';
import { sleep } from '../system/clock.ts';
import { type KeptLoad, type LoadTarget, currentDay, isUpToDate, loadFiles } from './load-configuration.ts';

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
interface CheckoutInUse extends Omit<CheckoutPlace, 'folder'> {
  current(): { readonly folder: string } | null;
}

interface SourceOptions {
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

  const placeOf = async (loaded: object | undefined): Promise<CommitPlace> => {
    const known = loaded ?? kept?.loaded ?? (await read());
    return places.get(known) ?? { file: serviceFile, others: [], generation };
  };

  return {
    read,
    readFor: async (account) =>
      kept !== undefined && isUpToDate(kept, account, target()) ? kept.loaded : await read(),
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

/** New content is used when no file has changed for this time. */
const QUIET_MS = 2000;

export interface SettledConfiguration extends ConfigurationSource {
  /** The content that is used, or after at most `waitMs` the content that is used then, if files change now. */
  readFor(account: string, waitMs?: number): Promise<Configuration>;
  /** Calls the listener when new content is used. */
  onChange(listener: () => unknown): void;
  /** Why new content is not used, if files have changed for so long; otherwise null. */
  problem(): string | null;
  /** The files of an account as they are now, quiet or not. */
  latestFor(account: string): Promise<Configuration>;
}

/**
 * The content of the source that is used. The first call waits until the files are quiet, unless their last change was
 * longer ago; the others return at once. Later changes are judged by what the file system records of each file, and never
 * by comparing its times with a clock. After `stop` nothing is waited for. `quietMs` is for tests.
 */
export function settledConfiguration(
  source: WatchedSource,
  stop: AbortSignal,
  quietMs = QUIET_MS,
): SettledConfiguration {
  const listeners: (() => unknown)[] = [];
  let used: { readonly content: Configuration; readonly stamps: string } | undefined;
  /** The commit of each content that was used, since git may have moved on with the files that change. */
  const commits = new WeakMap<object, Promise<ConfigCommit | null>>();
  let settling: Promise<Configuration> | undefined;
  let settlesSinceMs = 0;

  function use(content: Configuration, stamps: string): Configuration {
    used = { content, stamps };
    // The caller of `commit` handles a failure.
    readCommit(content).catch(() => undefined);
    return content;
  }

  /** Reads the commit of the content that is used. Another one than before counts while the files have this content. */
  function readCommit(content: object): Promise<ConfigCommit | null> {
    const before = commits.get(content);
    const reading = (async () => {
      const [known, commit] = await Promise.all([before?.catch(() => undefined), source.commit(content)]);
      // git may fail for a moment. On the same commit this content differs in the same files, whatever they contain now.
      if (commit === null || (commit.sha === known?.sha && known.changed !== undefined))
        return known ?? commit;
      if ((await source.read()) === content) return commit;
      return known ?? { ...commit, dirty: true, changed: undefined };
    })();
    commits.set(content, reading);
    return reading;
  }

  async function settle(): Promise<Configuration> {
    for (;;) {
      const content = await source.read();
      const stamps = await source.stamps();
      const waitMs = used === undefined ? quietMs - ageMs(stamps) : quietMs;
      if (waitMs <= 0) return use(content, stamps);
      await sleep(waitMs, stop);
      if (stop.aborted) return used?.content ?? content;
      if ((await source.read()) !== content || (await source.stamps()) !== stamps) continue;
      use(content, stamps);
      for (const listener of listeners) listener();
      return content;
    }
  }

  async function current(content: Configuration): Promise<Configuration> {
    if (content === used?.content) return content;
    // After the stop nothing settles any more.
    if (stop.aborted) return used?.content ?? content;
    // The same files, read on another day: approvals have expired.
    if (used !== undefined && used.stamps === (await source.stamps())) return use(content, used.stamps);
    if (settling === undefined) {
      settling = settle();
      settlesSinceMs = performance.now();
      // After a failure the next call reads the files again.
      void settling.catch(() => undefined).finally(() => (settling = undefined));
    }
    return used?.content ?? settling;
  }

  return {
    read: async () => current(await source.read()),
    async readFor(account, waitMs = 0) {
      const content = await current(await source.readFor(account));
      if (settling === undefined || waitMs === 0) return content;
      await Promise.race([settling.catch(() => undefined), sleep(waitMs, stop)]);
      return used?.content ?? content;
    },
    async commit(content = used?.content) {
      if (content === undefined) return await source.commit();
      const isCurrent = content === used?.content && settling === undefined;
      return await ((isCurrent ? undefined : commits.get(content)) ?? readCommit(content));
    },
    compareCommits: (older, newer) => source.compareCommits(older, newer),
    onChange: (listener) => void listeners.push(listener),
    // Half a minute is too long for a pull.
    problem: () =>
      settling !== undefined && performance.now() - settlesSinceMs > 15 * quietMs
        ? 'files of the configuration keep changing, so their new content is not used; it is used when no file has changed for 2 s'
        : null,
    latestFor: (account) => source.readFor(account),
  };
}

/** How long ago the newest change was; 0 when the clock of the file system is ahead, or a file has no time. */
function ageMs(stamps: string): number {
  const changedAtMs = (line: string): number => Number(line.split(' ').at(-1) || NaN) / 1e6;
  const newestMs = stamps.split('\n').reduce((newest, line) => Math.max(newest, changedAtMs(line)), 0);
  return Math.max(0, Date.now() - newestMs) || 0;
}
