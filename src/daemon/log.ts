// The daemon's log, and how it is opened on stderr: JSON lines, or readable lines on a terminal.
import { type Logger, pino } from 'pino';
import type { ServiceSettings } from '../core/settings.ts';
import { inVisibleJson, visible } from '../report/escape-invisible.ts';
import { duration } from '../report/formatting.ts';
import { setTimeout } from 'node:timers/promises';
import { styleText } from 'node:util';

/** What the daemon logs with: constant text, with data beside it. */
export interface Log {
  debug(data: object, message: string): void;
  info(data: object, message: string): void;
  warn(data: object, message: string): void;
  error(data: object, message: string): void;
}

/** Bytes that wait for the reader; further lines are dropped. */
const MAX_WAITING_BYTES = 1024 ** 2;

/** A log whose reader may stall or leave: no line waits for it. `close` writes what is left, for so many milliseconds. */
export function openLog(level: ServiceSettings['log']): {
  readonly log: Logger;
  readonly close: (withinMs: number) => Promise<void>;
} {
  let endsAtMs = Infinity;
  let isClosed = false;
  async function close(withinMs: number): Promise<void> {
    isClosed = true;
    endsAtMs = Date.now() + withinMs;
    // A line that is being written would be lost if the process ended now.
    const isWritten = new Promise((resolve) => destination.once('close', resolve));
    destination.end();
    await Promise.race([isWritten, setTimeout(withinMs, undefined, { ref: false })]);
  }
  // Before pino's own listener, which would wait for a reader that has stalled.
  process.once('exit', () => {
    isClosed = true;
    endsAtMs = 0;
    try {
      destination.flushSync();
      destination.destroy();
    } catch {
      // The reader has stalled or left, or everything is written.
    }
  });
  const toText = process.stderr.isTTY ? readableLine : inVisibleJson;
  const destination = pino.destination({
    dest: process.stderr.fd,
    sync: false,
    maxLength: MAX_WAITING_BYTES,
    retryEAGAIN: () => Date.now() < endsAtMs,
  });
  destination.on('error', () => undefined);
  const options = { level, base: null, timestamp: pino.stdTimeFunctions.isoTime };
  const write = (line: string): void => void (isClosed || destination.write(toText(line)));
  return { log: pino(options, { write }), close };
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
