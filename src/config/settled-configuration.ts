// Keeps the daemon on the configuration that it used last while files change: an editor or `git pull` may have written
// only a part of them, and a name that is missing for a moment would be deleted and created again.
import type { ConfigCommit, Configuration } from '../core/settings.ts';
import { sleep } from '../system/clock.ts';
import { changedAtMs } from './files-on-disk.ts';
import type { ConfigurationSource, WatchedSource } from './configuration-source.ts';

/** New content is used when no file has changed for this time. */
const QUIET_MS = 2000;

/** How long ago the newest change was; 0 when the clock of the file system is ahead, or a file has no time. */
function ageMs(stamps: string): number {
  const newestMs = stamps.split('\n').reduce((newest, line) => Math.max(newest, changedAtMs(line)), 0);
  return Math.max(0, Date.now() - newestMs) || 0;
}

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
