// Reads a file that the configuration names. The path may be a pipe or a device, which must not block this process.
import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  readSync,
  realpathSync,
  statSync,
} from 'node:fs';
import path from 'node:path';
import { errorCode } from '../core/errors.ts';

export interface RegularFile {
  readonly bytes: Buffer;
  /** The path of the file that was read, with all links resolved. */
  readonly realPath: string;
  /** The file changed during the read, or has another size than its file system reports. */
  readonly isChanged: boolean;
}

const PIECE_BYTES = 64 * 1024;

/** Why a file could not be read: the `code` of the system, `irregular` or `too_large`. */
export class FileError extends Error {
  override readonly name = 'FileError';
  readonly code: string;

  constructor(code: string) {
    super(code);
    this.code = code;
  }
}

/**
 * The bytes of a regular file of at most `maxBytes`. Throws FileError. Synchronous, because a small file takes 20 µs this
 * way and ten times as much with the thread pool, and a daemon reads a thousand of them.
 */
export function readRegularFile(file: string, maxBytes: number): RegularFile {
  try {
    // Opening a device may have side effects, so its type is checked first.
    if (!statSync(file).isFile()) throw new FileError('irregular');
    // If the file was replaced by a pipe since then, an open without O_NONBLOCK would block.
    const handle = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    try {
      const before = fstatSync(handle, { bigint: true });
      if (!before.isFile()) throw new FileError('irregular');
      const bytes = readAtMost(handle, maxBytes);
      const isSame = stampOf(fstatSync(handle, { bigint: true })) === stampOf(before);
      const isChanged = !isSame || BigInt(bytes.length) !== before.size;
      return { bytes, realPath: openedPath(handle) ?? realpathSync.native(file), isChanged };
    } finally {
      closeSync(handle);
    }
  } catch (error) {
    throw error instanceof FileError ? error : new FileError(errorCode(error));
  }
}

/** Some file systems, such as /proc, report a wrong size. */
function readAtMost(handle: number, maxBytes: number): Buffer {
  const pieces: Buffer[] = [];
  let length = 0;
  for (let read = -1; read !== 0 && length <= maxBytes; length += read) {
    const piece = Buffer.allocUnsafe(Math.min(PIECE_BYTES, maxBytes + 1 - length));
    read = readSync(handle, piece);
    pieces.push(piece.subarray(0, read));
  }
  if (length > maxBytes) throw new FileError('too_large');
  return Buffer.concat(pieces);
}

/** What the file system records of a file: differs after any change. Undefined if there is no such record. */
export function fileStamp(file: string): string | undefined {
  try {
    return stampOf(statSync(file, { bigint: true }));
  } catch {
    // The read that follows reports the reason.
    return undefined;
  }
}

function stampOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return `${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs}`;
}

/** The path with all links resolved, also of a file that does not exist; undefined if a link has no target. */
export function realPathOf(file: string): string | undefined {
  try {
    return realpathSync.native(file);
  } catch {
    const above = path.dirname(file);
    if (above === file || isLink(file)) return undefined;
    const folder = realPathOf(above);
    return folder && path.join(folder, path.basename(file));
  }
}

function isLink(file: string): boolean {
  try {
    return lstatSync(file).isSymbolicLink();
  } catch {
    return false;
  }
}

/** The path of an open file. A link that changes after the open has no effect on it. */
function openedPath(descriptor: number): string | undefined {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`);
  } catch {
    return undefined;
  }
}
