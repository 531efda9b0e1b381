// The file that the store was opened from: still there, and still the same one.
import { statSync } from 'node:fs';
import { StoreError } from '../core/errors.ts';

export interface StoreFile {
  readonly path: string;
  /** Throws StoreError when the file was removed, or another one stands in its place. */
  check(): void;
}

export function storeFile(path: string): StoreFile {
  const opened = statSync(path, { bigint: true });
  return {
    path,
    check() {
      const now = statSync(path, { bigint: true, throwIfNoEntry: false });
      if (now?.ino === opened.ino && now.dev === opened.dev) return;
      const what = now === undefined ? 'was removed' : 'was replaced by another file';
      throw new StoreError(
        'store_replaced',
        `${path} ${what} while it was open; nothing more is written. Restart rolecall`,
      );
    },
  };
}
