// Reads a file that the configuration names. The path may be a pipe or a device, which must not block this process.
import { constants, readlinkSync } from 'node:fs';
import { open, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { errorCode } from '../core/errors.ts';

export interface RegularFile {
  readonly bytes: Buffer;
  /** The path of the file that was read, with all links resolved. */
  readonly realPath: string;
}

/** Why a file could not be read: the `code` of the system, `irregular` or `too_large`. */
export class FileError extends Error {
  override readonly name = 'FileError';
  readonly code: string;

  constructor(code: string) {
    super(code);
    this.code = code;
  }
}

/** The bytes of a regular file of at most `maxBytes`. Throws FileError. */
export async function readRegularFile(file: string, maxBytes: number): Promise<RegularFile> {
  try {
    // Opening a device may have side effects, so its type is checked first.
    if (!(await stat(file)).isFile()) throw new FileError('irregular');
    // If the file was replaced by a pipe since then, an open without O_NONBLOCK would block.
    const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    try {
      if (!(await handle.stat()).isFile()) throw new FileError('irregular');
      // Some file systems, such as /proc, report a wrong size.
      const bytes = Buffer.allocUnsafe(maxBytes + 1);
      let length = 0;
      for (let read = -1; read !== 0 && length <= maxBytes; length += read)
        read = (await handle.read(bytes, length)).bytesRead;
      if (length > maxBytes) throw new FileError('too_large');
      return { bytes: bytes.subarray(0, length), realPath: openedPath(handle.fd) ?? (await realpath(file)) };
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw error instanceof FileError ? error : new FileError(errorCode(error));
  }
}

/** The path with all links resolved, also if the file does not exist. */
export async function realPathOf(file: string): Promise<string> {
  try {
    return await realpath(file);
  } catch {
    const parent = path.dirname(file);
    return parent === file ? file : path.join(await realPathOf(parent), path.basename(file));
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
