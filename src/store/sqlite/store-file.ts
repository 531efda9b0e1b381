// Checks that the file of an open store still exists, is still the same file, and is not damaged.
import { statSync } from 'node:fs';
import { StoreError } from '../../core/errors.ts';

export interface StoreFile {
  readonly path: string;
  /** Throws StoreError when the file was removed, replaced by another one, or found damaged. */
  check(): void;
  /** Makes `check` throw this error from now on. */
  refuse(damage: StoreError): void;
}

export function storeFile(path: string): StoreFile {
  const opened = statSync(path, { bigint: true });
  let damaged: StoreError | null = null;
  return {
    path,
    refuse(damage) {
      damaged = damage;
    },
    check() {
      if (damaged !== null) throw damaged;
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
