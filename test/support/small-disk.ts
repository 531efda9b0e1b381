// A file system with little room, which a test fills and empties, and one that cannot be written.
import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, truncateSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

export interface SmallDisk {
  /** Fills the disk up to this many free bytes. */
  fill(leaveBytes: number): void;
  empty(): void;
  unmount(): void;
}

const SIZE_KIB = 2048;
const BLOCK = Buffer.alloc(4096);

/** Creates the folder and mounts a small disk there; null where that is not permitted. */
export function mountSmallDisk(folder: string): SmallDisk | null {
  mkdirSync(folder, { recursive: true });
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${SIZE_KIB}k`, 'tmpfs', folder], { stdio: 'ignore' });
  } catch {
    return null;
  }
  const filler = join(folder, 'filler');
  return {
    fill(leaveBytes) {
      const file = openSync(filler, 'w');
      let written = 0;
      try {
        for (;;) written += writeSync(file, BLOCK);
      } catch {
        // The loop ends when the disk is full.
      } finally {
        closeSync(file);
      }
      truncateSync(filler, Math.max(0, written - leaveBytes));
    },
    empty: () => rmSync(filler, { force: true }),
    unmount: () => void execFileSync('umount', ['-l', folder]),
  };
}

/** Mounts a folder so that nothing can be written below `at`; false where that is not permitted. */
export function mountReadOnly(folder: string, at = folder): boolean {
  try {
    execFileSync('mount', ['--bind', folder, at], { stdio: 'ignore' });
    onTestFinished(() => void execFileSync('umount', ['-l', at]));
    execFileSync('mount', ['-o', 'remount,ro,bind', at], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
