// Watches the files of the configuration, including the symbolic links that Kubernetes replaces.
import { dirname } from 'node:path';
import { watch as watchFiles } from 'chokidar';
import { errorCode } from '../core/errors.ts';
import type { Log } from './log.ts';

/** Editors and git write in several steps: changes within this time are reported once. */
const QUIET_MS = 300;

/** Calls `onChange` after something changed in a folder of the followed files. */
export function createWatch(onChange: () => void, log: Log) {
  let timer: NodeJS.Timeout | undefined;
  let folders = new Set<string>();
  const watcher = watchFiles([], {
    ignoreInitial: true,
    depth: 1,
    ignored: /[/\\](\.git|node_modules)([/\\]|$)/,
  });
  watcher.on('all', () => {
    clearTimeout(timer);
    timer = setTimeout(onChange, QUIET_MS);
  });
  watcher.on('error', (error) => {
    // The next run and SIGHUP still find the changes.
    const reason = errorCode(error);
    log.warn({ event: 'watch_failed', reason }, 'the folders of the configuration cannot be watched');
  });
  const readiness = new Promise<void>((resolve) => void watcher.once('ready', () => resolve()));

  return {
    /** Resolves when all these folders are watched. */
    ready: () => readiness,
    /** Replaces the watched folders by those of these files. */
    follow(files: readonly string[]): void {
      const next = new Set(files.map((file) => dirname(file)));
      const gone = [...folders].filter((folder) => !next.has(folder));
      const fresh = [...next].filter((folder) => !folders.has(folder));
      folders = next;
      if (gone.length > 0) watcher.unwatch(gone);
      if (fresh.length > 0) watcher.add(fresh);
    },
    async close(): Promise<void> {
      clearTimeout(timer);
      await watcher.close();
    },
  };
}
