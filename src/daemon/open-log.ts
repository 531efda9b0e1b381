// Opens the daemon's log on stderr: JSON lines, or readable lines on a terminal.
import { type Logger, pino } from 'pino';
import type { ServiceSettings } from '../core/settings.ts';
import { inVisibleJson, visible } from '../report/escape-invisible.ts';
import { duration } from '../report/formatting.ts';
import { once } from 'node:events';
import { constants, fstatSync, openSync } from 'node:fs';
import { isatty } from 'node:tty';
import { styleText } from 'node:util';
import sonicBoom from 'sonic-boom';
import { sleep } from '../system/clock.ts';

export function openLog(level: ServiceSettings['log']): { readonly log: Logger; readonly sink: LogSink } {
  const sink = createLogSink(openWithoutBlocking(process.stderr), {
    onDropped: (lines) =>
      log.warn(
        { event: 'log_dropped', lines },
        'log lines were dropped, because stderr was not read for a while',
      ),
  });
  const log = createLogger(level, sink);
  return { log, sink };
}

function createLogger(level: ServiceSettings['log'], sink: LogSink): Logger {
  const toText = process.stderr.isTTY ? readableLine : inVisibleJson;
  const options = { level, base: null, timestamp: pino.stdTimeFunctions.isoTime };
  return pino(options, { write: (line: string) => sink.write(toText(line)) });
}

interface LoggedLine {
  readonly time: string;
  readonly level: number;
  readonly event: string;
  readonly account?: string;
  readonly runId?: string;
  readonly msg: string;
}

/** `16:19:13  acme  2 created, 1 held in 4.1 s  run 01a219b4-9f7b`: one line for each event, in the time of this machine. */
export function readableLine(json: string): string {
  const { time, level, event, account, runId, msg, ...data } = JSON.parse(json) as LoggedLine; // from pino
  const [tone, mark] =
    level < 40
      ? (['reset', ''] as const)
      : level < 50
        ? (['yellow', 'warning: '] as const)
        : (['red', 'error: '] as const);
  const what =
    event === 'run_ended' ? endText(data as unknown as EndData) : [msg, ...dataTexts(data)].join(' ');
  const run = runId === undefined ? [] : [`run ${runId.slice(0, 13)}`];
  const [clock = ''] = new Date(time).toTimeString().split(' ');
  const text = visible([...(account === undefined ? [] : [account]), mark + what, ...run].join('  '));
  const isPlain = (process.env['NO_COLOR'] ?? '') !== '';
  return `${clock}  ${isPlain || tone === 'reset' ? text : styleText(tone, text)}\n`;
}

/** What `run_ended` logs, of which a reader needs this. */
interface EndData extends Readonly<Record<'created' | 'deleted' | 'held' | 'failed' | 'seconds', number>> {
  readonly status: string;
  readonly code?: string;
  readonly error?: string;
}

function endText({ status, seconds, code, error, ...counts }: EndData): string {
  const changes = (['created', 'deleted', 'held', 'failed'] as const)
    .filter((key) => counts[key] > 0)
    .map((key) => `${counts[key]} ${key}`)
    .join(', ');
  const isPlain = changes !== '' && (status === 'converged' || status === 'held');
  const result = [...(isPlain ? [] : [status]), ...(changes === '' ? [] : [changes])].join(': ');
  return `${result} in ${duration(seconds * 1000)}${error === undefined ? '' : `; ${code}: ${error}`}`;
}

/** `key=value` of everything that is set, digests shortened. */
function dataTexts(data: object): string[] {
  return Object.entries(data).flatMap(([key, value]: [string, unknown]) => {
    if (value === null || value === 0) return [];
    const text =
      typeof value === 'string' ? value.replace(/^sha256:(\w{12})\w+$/, '$1') : JSON.stringify(value);
    return [`${key}=${/[\s"=]/.test(text) ? JSON.stringify(value) : text}`];
  });
}

/** Bytes that wait for the reader; further lines are dropped and counted. */
const MAX_WAITING_BYTES = 1024 ** 2;

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
  /** Ends the sink when everything is written, when that fails, or after so many milliseconds. The descriptor stays open. */
  close(withinMs: number): Promise<void>;
}

/** A sink on a file descriptor that does not block; see `openWithoutBlocking`. */
export function createLogSink(fd: number, options: LogSinkOptions): LogSink {
  const { onDropped, maxWaitingBytes = MAX_WAITING_BYTES } = options;
  let isClosed = false;
  const stream = new sonicBoom.SonicBoom({
    fd,
    maxLength: maxWaitingBytes,
    // Its attempts keep the process alive.
    retryEAGAIN: () => !isClosed,
  });
  let isWritten = true;
  let total = 0;
  let unreported = 0;
  stream.on('drop', (text: string) => {
    const lines = text.split('\n').length - 1;
    total += lines;
    unreported += lines;
  });
  stream.on('drain', () => {
    isWritten = true;
    const lines = unreported;
    unreported = 0;
    if (lines > 0) onDropped(lines);
  });
  // The reader has ended or the disk is full. The next line tries again, and up to the limit nothing is lost.
  stream.on('error', () => undefined);
  return {
    write(text) {
      if (isClosed) return;
      isWritten = false;
      stream.write(text);
    },
    droppedTotal: () => total,
    async close(withinMs) {
      const late = new AbortController();
      const { signal } = late;
      if (!isWritten) {
        // An error of the stream ends the wait too.
        const written = once(stream, 'drain', { signal }).catch(() => undefined);
        await Promise.race([written, sleep(withinMs, signal)]);
      }
      late.abort();
      isClosed = true;
    },
  };
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
