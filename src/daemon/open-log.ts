// Opens the daemon's log on stderr: JSON lines, or readable lines on a terminal.
import type { Logger } from 'pino';
import { pino } from 'pino';
import type { ServiceSettings } from '../core/settings.ts';
import { inVisibleJson, visibleData } from '../report/escape-invisible.ts';
import { createLogSink, type LogSink, openWithoutBlocking } from './log-sink.ts';

export async function openLog(
  settings: ServiceSettings['log'],
): Promise<{ readonly log: Logger; readonly sink: LogSink }> {
  const sink = createLogSink(openWithoutBlocking(process.stderr), {
    onDropped: (lines) =>
      log.warn(
        { event: 'log_dropped', lines },
        'log lines were dropped, because stderr was not read for a while',
      ),
  });
  const log = await createLogger(settings, sink);
  return { log, sink };
}

async function createLogger({ level }: ServiceSettings['log'], sink: LogSink): Promise<Logger> {
  const options = { level, base: null, timestamp: pino.stdTimeFunctions.isoTime };
  if (!process.stderr.isTTY) {
    return pino(options, { write: (line: string) => sink.write(inVisibleJson(line)) });
  }
  // In this thread: pino's own transport writes in a worker, which a stalled terminal could keep from ending.
  const { default: pretty } = await import('pino-pretty');
  const isPlain = (process.env['NO_COLOR'] ?? '') !== '';
  const toText = pretty.prettyFactory(isPlain ? { colorize: false } : {});
  return pino(
    { ...options, formatters: { log: visibleData } },
    { write: (line: string) => sink.write(toText(line)) },
  );
}
