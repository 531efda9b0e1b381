// Reads a file that the configuration names. The path may be a pipe, a device, or a file of a mount that does not
// answer. These must neither block this process nor use all four threads that Node.js reads files with.
import { spawn } from 'node:child_process';
import { constants, readlinkSync, type Stats } from 'node:fs';
import { open, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { errorCode } from '../core/error-code.ts';

export interface RegularFile {
  readonly bytes: Buffer;
  /** Permission bits. */
  readonly mode: number;
  readonly uid: number;
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
/** Concurrent reads in the four threads of Node.js; the other threads stay free. */
const AT_ONCE = 2;
const MAX_CHILDREN = 4;

/** The running reads, by size limit and file. */
const reads = new Map<string, Promise<RegularFile>>();
/** The calls that missed the deadline. They end only when the file system answers. */
const stuck = new Set<string>();
const waiting: (() => void)[] = [];
let running = 0;
let children = 0;

/**
 * The bytes of a regular file of at most `maxBytes`, within five seconds. Throws FileError. Concurrent calls for a file
 * share one read. After a missed deadline, further calls fail immediately until the file system answers.
 */
export async function readRegularFile(file: string, maxBytes: number): Promise<RegularFile> {
  const key = `${maxBytes} ${file}`;
  if (stuck.has(key)) throw new FileError('too_slow');
  const reading = reads.get(key) ?? start(key, file, maxBytes);
  return await reading;
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
  if (stuck.size >= AT_ONCE) return file;
  const key = `path ${file}`;
  if (stuck.has(key)) return file;
  await waitForSlot();
  return await inTime(key, resolveLinks(file)).catch(() => file);
}

async function start(key: string, file: string, maxBytes: number): Promise<RegularFile> {
  const reading = (async () =>
    (await waitForSlot()) === 'here'
      ? await inTime(key, readHere(file, maxBytes))
      : await inChild(file, maxBytes))();
  reads.set(key, reading);
  try {
    return await reading;
  } finally {
    reads.delete(key);
  }
}

/** Waits for a free thread. If the threads hang, another process reads the file. */
async function waitForSlot(): Promise<'here' | 'child'> {
  for (;;) {
    if (running < AT_ONCE) {
      running += 1;
      return 'here';
    }
    if (stuck.size >= AT_ONCE && children < MAX_CHILDREN) {
      children += 1;
      return 'child';
    }
    await new Promise<void>((resolve) => waiting.push(resolve));
  }
}

function wakeOne(): void {
  waiting.shift()?.();
}

function wakeAll(): void {
  for (const resolve of waiting.splice(0)) resolve();
}

/** The result of `work`, or `too_slow` after the deadline; the thread is in use until `work` ends. */
async function inTime<T>(key: string, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      stuck.add(key);
      wakeAll();
      reject(new FileError('too_slow'));
    }, DEADLINE_MS);
  });
  const ended = (): void => {
    clearTimeout(timer);
    running -= 1;
    stuck.delete(key);
    wakeOne();
  };
  work.then(ended, ended);
  return await Promise.race([work, late]);
}

async function readHere(file: string, maxBytes: number): Promise<RegularFile> {
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
      return { bytes: bytes.subarray(0, length), mode: found.mode & 0o7777, uid: found.uid, realPath };
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

/** Does the same as `readHere`, in a process that can be killed. */
const CHILD = `
const fs = require('node:fs');
const [file, max] = process.argv.slice(1);
const end = (answer) => fs.writeSync(1, JSON.stringify(answer));
const kindOf = (found) =>
  found.isDirectory() ? 'a folder' : found.isFIFO() ? 'a named pipe (FIFO)' : found.isSocket() ? 'a socket' : 'a device';
try {
  const before = fs.statSync(file);
  if (!before.isFile()) end({ code: 'irregular', kind: kindOf(before) });
  else {
    const { O_RDONLY, O_NONBLOCK, O_NOCTTY } = fs.constants;
    const handle = fs.openSync(file, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    const found = fs.fstatSync(handle);
    const bytes = Buffer.alloc(Number(max) + 1);
    let length = 0;
    for (let count = 1; found.isFile() && count > 0 && length < bytes.length; length += count) {
      count = fs.readSync(handle, bytes, length, bytes.length - length, null);
    }
    const realPath = fs.realpathSync.native(file);
    if (!found.isFile()) end({ code: 'irregular', kind: kindOf(found) });
    else if (length > Number(max)) end({ code: 'too_large' });
    else end({ bytes: bytes.toString('base64', 0, length), mode: found.mode & 0o7777, uid: found.uid, realPath });
  }
} catch (error) { end({ code: String(error.code) }); }
`;

function inChild(file: string, maxBytes: number): Promise<RegularFile> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['-e', CHILD, file, String(maxBytes)], {
      stdio: ['ignore', 'pipe', 'ignore'],
      env: {},
    });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (piece: string) => (output += piece));
    let isOver = false;
    const end = (failure?: string): void => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      // A process that hangs in the system can't be killed immediately, so nothing waits for it.
      child.kill('SIGKILL');
      child.unref();
      child.stdout.destroy();
      children -= 1;
      wakeOne();
      const answer = failure === undefined ? parseAnswer(output) : { code: failure, kind: undefined };
      if ('code' in answer) reject(new FileError(answer.code, answer.kind));
      else resolve(answer);
    };
    const timer = setTimeout(() => end('too_slow'), DEADLINE_MS);
    child.on('error', () => end('unknown'));
    child.on('close', () => end());
  });
}

function parseAnswer(output: string): RegularFile | { readonly code: string; readonly kind?: string } {
  try {
    // The script above writes this type.
    const answer = JSON.parse(output) as
      | { readonly code: string; readonly kind?: string }
      | { bytes: string; mode: number; uid: number; realPath: string };
    return 'code' in answer ? answer : { ...answer, bytes: Buffer.from(answer.bytes, 'base64') };
  } catch {
    return { code: 'unknown' };
  }
}
