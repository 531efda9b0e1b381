// Reads a file that the configuration names. The path may be a pipe, a device, or a file of a mount that does not
// answer. These must neither block this process nor use all four threads that Node.js reads files with.
import { constants, readlinkSync, type Stats } from 'node:fs';
import { lstat, open, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { errorCode } from '../core/errors.ts';

export interface RegularFile {
  readonly bytes: Buffer;
  /** The path of the file that was read, with all links resolved. */
  readonly realPath: string;
}

/** Why a file could not be read: the `code` of the system, or one of those below. */
export class FileError extends Error {
  override readonly name = 'FileError';
  readonly code: string;
  /** The type of an irregular file. */
  readonly kind: string | undefined;

  /** Besides the codes of the system: `irregular`, `too_large`, `too_slow` and `unknown`. */
  constructor(code: string, kind?: string) {
    super(code);
    this.code = code;
    this.kind = kind;
  }
}

/** Long enough for any working file system: a disk answers within milliseconds. */
const DEADLINE_MS = 5000;
/** Of the four threads that Node.js reads files with, one stays free. */
const MOST_STUCK = 3;

/** Where the calls that missed the deadline hang: folders, and links in folders that answer. They end when it answers. */
const stuck = new Set<string>();
/** The last call. They run one after the other, so that a folder that hangs blocks one thread. */
let last: Promise<unknown> = Promise.resolve();

/**
 * The bytes of a regular file of at most `maxBytes`, within five seconds of reading. Throws FileError. After a missed
 * deadline, further calls for the same folder, or for the same link, fail at once until its file system answers.
 */
export async function readRegularFile(file: string, maxBytes: number): Promise<RegularFile> {
  return await afterOthers(file, () => read(file, maxBytes));
}

/** Whether a read hangs in the system. */
export function hasStuckReads(): boolean {
  return stuck.size > 0;
}

/** Ends the process. A normal exit waits for reads that hang, so in that case the process kills itself. */
export function exitNow(status: number): never {
  if (hasStuckReads()) process.kill(process.pid, 'SIGKILL');
  process.exit(status);
}

/**
 * The path with all links resolved, also if the file does not exist. Returns the path unchanged when the system does
 * not answer in time, so a caller that reads the file must check `realPath` again.
 */
export async function realPathOf(file: string): Promise<string> {
  return await afterOthers(file, () => resolveLinks(file)).catch(() => file);
}

async function afterOthers<T>(file: string, work: () => Promise<T>): Promise<T> {
  const folder = path.dirname(file);
  const result = last.then(async () => {
    if (stuck.has(folder) || stuck.has(file) || stuck.size >= MOST_STUCK) throw new FileError('too_slow');
    let place = folder;
    // A link whose target hangs is no reason to refuse its neighbours.
    const answered = lstat(file).catch(() => undefined);
    const done = answered.then(async () => {
      place = file;
      return await work();
    });
    return await inTime(() => place, done);
  });
  last = result.catch(() => undefined);
  return await result;
}

/** The result of `work`, or `too_slow` after the deadline; the thread is in use until `work` ends. */
async function inTime<T>(place: () => string, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  let hung: string | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      hung = place();
      stuck.add(hung);
      reject(new FileError('too_slow'));
    }, DEADLINE_MS);
  });
  const ended = (): void => {
    clearTimeout(timer);
    if (hung !== undefined) stuck.delete(hung);
  };
  work.then(ended, ended);
  return await Promise.race([work, late]);
}

async function read(file: string, maxBytes: number): Promise<RegularFile> {
  try {
    // Opening a device may have side effects, so its type is checked first.
    const before = await stat(file);
    if (!before.isFile()) throw new FileError('irregular', kindOf(before));
    // If the file was replaced by a pipe since then, an open without O_NONBLOCK would block.
    const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    try {
      const found = await handle.stat();
      if (!found.isFile()) throw new FileError('irregular', kindOf(found));
      // Some file systems, such as /proc, report a wrong size.
      const bytes = Buffer.allocUnsafe((found.size === 0 ? maxBytes : Math.min(found.size, maxBytes)) + 1);
      let length = 0;
      while (length < bytes.length) {
        const { bytesRead } = await handle.read(bytes, length, bytes.length - length);
        if (bytesRead === 0) break;
        length += bytesRead;
      }
      if (length > maxBytes) throw new FileError('too_large');
      const realPath = openedPath(handle.fd) ?? (await realpath(file));
      return { bytes: bytes.subarray(0, length), realPath };
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (error instanceof FileError) throw error;
    throw new FileError(errorCode(error));
  }
}

/** The name of an irregular file's type in messages. */
function kindOf(found: Stats): string {
  if (found.isDirectory()) return 'a folder';
  if (found.isFIFO()) return 'a named pipe (FIFO)';
  return found.isSocket() ? 'a socket' : 'a device';
}

/** The path of an open file. A link that changes after the open has no effect on it. */
function openedPath(descriptor: number): string | undefined {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`);
  } catch {
    return undefined;
  }
}

async function resolveLinks(file: string): Promise<string> {
  try {
    return await realpath(file);
  } catch {
    const parent = path.dirname(file);
    return parent === file ? file : path.join(await resolveLinks(parent), path.basename(file));
  }
}
