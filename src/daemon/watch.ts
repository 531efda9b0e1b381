// Sees that files of the configuration changed, Kubernetes' symlink swap included, and says so once they are quiet.
import { dirname } from 'node:path';
import { watch as watchFiles } from 'chokidar';
import { errorCode } from '../core/error-code.ts';
import type { Log } from './log.ts';

/** Editors and git write in several steps; what follows within this time belongs together. */
const QUIET_MS = 300;

export interface Watch {
  /** Watches the folders of these files from now on. */
  follow(files: readonly string[]): void;
  /** Resolves when everything that is followed is watched. */
  ready(): Promise<void>;
  close(): Promise<void>;
}

/** Calls `onChange` after something changed in a folder of the followed files. */
export function createWatch(onChange: () => void, log: Log): Watch {
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
    // Without it, the next run and SIGHUP still see what changed.
    const reason = errorCode(error);
    log.warn({ event: 'watch_failed', reason }, 'the configuration’s folders cannot be watched');
  });
  const readiness = new Promise<void>((resolve) => void watcher.once('ready', () => resolve()));

  return {
    ready: () => readiness,
    follow(files) {
      const next = new Set(files.map((file) => dirname(file)));
      const gone = [...folders].filter((folder) => !next.has(folder));
      const fresh = [...next].filter((folder) => !folders.has(folder));
      folders = next;
      if (gone.length > 0) watcher.unwatch(gone);
      if (fresh.length > 0) watcher.add(fresh);
    },
    async close() {
      clearTimeout(timer);
      await watcher.close();
    },
  };
}
