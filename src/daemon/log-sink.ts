// Writes log lines without waiting for their reader, and keeps a limited number of bytes while the reader is slow. A write
// that waits would also stop health checks, runs and signals.
import { constants, fstatSync, openSync, writeSync } from 'node:fs';
import { isatty } from 'node:tty';
import { errorCode } from '../core/error-code.ts';

/** Bytes that wait for the reader; further lines are dropped and counted. */
const MAX_WAITING_BYTES = 1024 ** 2;
/** The time between two attempts to write to a stalled reader. */
const RETRY_MS = 20;

export interface LogSinkOptions {
  /** Called when the reader reads again, with the number of dropped lines. */
  readonly onDropped: (lines: number) => void;
  readonly maxWaitingBytes?: number;
}

export interface LogSink {
  /** Writes text of one or more lines, each with its end. Never waits and never throws. */
  write(text: string): void;
  /** Lines that were dropped since the start. */
  droppedTotal(): number;
  /** Resolves with true when everything is written, or with false after so many milliseconds. */
  flush(withinMs: number): Promise<boolean>;
}

/** A sink on a file descriptor that does not block; see `openWithoutBlocking`. */
export function createLogSink(fd: number, options: LogSinkOptions): LogSink {
  const { onDropped, maxWaitingBytes = MAX_WAITING_BYTES } = options;
  let waiting: Buffer[] = [];
  let waitingBytes = 0;
  let timer: NodeJS.Timeout | undefined;
  let total = 0;
  let unreported = 0;

  function drop(bytes: Buffer): void {
    const lines = linesIn(bytes);
    total += lines;
    unreported += lines;
  }

  /** Writes the waiting bytes until the reader is busy. */
  function drain(): void {
    clearTimeout(timer);
    timer = undefined;
    const hadLines = waiting.length > 0;
    while (waiting.length > 0) {
      const chunk = waiting.length === 1 ? waiting[0] : Buffer.concat(waiting);
      if (chunk === undefined) break;
      const written = tryWrite(fd, chunk);
      // Not reported: the report would fail too.
      if (written === 'failed') return discard();
      const rest = chunk.subarray(written);
      waiting = rest.length === 0 ? [] : [rest];
      if (written === 0) break;
    }
    waitingBytes = waiting.reduce((sum, { length }) => sum + length, 0);
    if (waiting.length > 0) timer = setTimeout(drain, RETRY_MS).unref();
    else if (hadLines && unreported > 0) report();
  }

  function discard(): void {
    for (const bytes of waiting) drop(bytes);
    waiting = [];
    waitingBytes = 0;
  }

  function report(): void {
    const lines = unreported;
    unreported = 0;
    onDropped(lines);
  }

  return {
    write(text) {
      const bytes = Buffer.from(text);
      if (waitingBytes > 0 && waitingBytes + bytes.length > maxWaitingBytes) return drop(bytes);
      const isFollowing = waiting.length === 0;
      waiting.push(bytes);
      waitingBytes += bytes.length;
      if (isFollowing) drain();
    },
    droppedTotal: () => total,
    async flush(withinMs) {
      const endMs = performance.now() + withinMs;
      drain();
      while (waiting.length > 0 && performance.now() < endMs) {
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
        drain();
      }
      return waiting.length === 0;
    },
  };
}

/** A partly written line counts too: its end is missing. */
function linesIn(bytes: Buffer): number {
  let lines = 0;
  for (let at = bytes.indexOf('\n'); at !== -1; at = bytes.indexOf('\n', at + 1)) lines += 1;
  return lines;
}

/** The number of bytes that were written; 0 when the reader accepts none. `failed`: the reader has ended or the disk is full. */
function tryWrite(fd: number, bytes: Buffer): number | 'failed' {
  try {
    return writeSync(fd, bytes);
  } catch (error) {
    return errorCode(error) === 'EAGAIN' ? 0 : 'failed';
  }
}

/**
 * A descriptor that writes to the target of stderr and never waits. A pipe and a terminal are opened a second time, because
 * other processes share the flags of the first descriptor. If that is refused, the descriptor itself is used: Node.js has
 * made a pipe non-blocking when `process.stderr` was first used. A file never waits.
 */
export function openWithoutBlocking(stderr: NodeJS.WriteStream & { readonly fd: number }): number {
  const { fd } = stderr;
  if (!fstatSync(fd).isFIFO() && !isatty(fd)) return fd;
  try {
    const { O_WRONLY, O_NONBLOCK, O_NOCTTY } = constants;
    return openSync(`/proc/self/fd/${fd}`, O_WRONLY | O_NONBLOCK | O_NOCTTY);
  } catch {
    return fd;
  }
}
