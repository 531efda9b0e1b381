// Sends the progress of a run to its page as server-sent events, until the run ends.
import type { Hono } from 'hono';
import { html } from 'hono/html';
import { sleep } from '../../platform/clock.ts';
import type { Log } from '../log.ts';
import type { DaemonApi } from '../daemon-api.ts';
import type { HttpEnv } from './context.ts';
import { answerFailure } from './failure.tsx';
import type { HttpLimits } from './limits.ts';
import { ProgressBar } from './pages/progress-bar.tsx';
import { createProgressReader, type ReadProgress } from './progress-reader.ts';
import { NO_RUN, TOO_MANY_STREAMS } from './refusals.ts';
import { sendPieces } from './send-pieces.ts';

export interface RunEventsOptions {
  readonly daemon: Pick<DaemonApi, 'runProgress'>;
  readonly log: Pick<Log, 'error'>;
  readonly limits: Pick<HttpLimits, 'streams'>;
  readonly nowMs: () => number;
  readonly steadyMs: () => number;
  /** Aborts when the server closes. */
  readonly closing: AbortSignal;
}

const EVERY_MS = 1000;
/** Then the browser connects again, which checks its session again. */
const LONGEST_MS = 300_000;

/** Adds the path of the events: `progress` with the block of the page that changes, and `end`. */
export function addRunEvents(app: Hono<HttpEnv>, options: RunEventsOptions): void {
  const { daemon, log, limits, steadyMs } = options;
  const read = createProgressReader((id) => daemon.runProgress(id), EVERY_MS, steadyMs);
  let streams = 0;
  app.get('/runs/:id{[0-9a-f-]{36}}/events', async (context) => {
    const runId = context.req.param('id');
    if ((await read(runId)) === null) return await answerFailure(context, NO_RUN);
    if (streams >= limits.streams) return await answerFailure(context, TOO_MANY_STREAMS);
    if (context.req.method === 'HEAD') return context.body(null, 200, { 'content-type': EVENT_STREAM });
    streams += 1;
    const events = progressEvents(runId, read, options);
    // A proxy must not collect the events, and the server must not wait for the connection when it closes.
    const headers = { 'content-type': EVENT_STREAM, 'x-accel-buffering': 'no', connection: 'close' };
    return await sendPieces(context, { pieces: events, headers, log }).finally(() => (streams -= 1));
  });
}

const EVENT_STREAM = 'text/event-stream; charset=utf-8';

/** The next event is made when the last one has been written, so that a slow client misses some and needs no memory. */
async function* progressEvents(
  runId: string,
  read: ReadProgress,
  { nowMs, steadyMs, closing }: RunEventsOptions,
): AsyncGenerator<string> {
  const endsMs = steadyMs() + LONGEST_MS;
  yield `retry: ${EVERY_MS}\n\n`;
  while (!closing.aborted && steadyMs() < endsMs) {
    const progress = await read(runId);
    if (progress?.status !== 'running') {
      yield event('end', progress?.status ?? 'deleted');
      return;
    }
    const bar = <ProgressBar progress={progress} nowMs={nowMs()} />;
    yield event('progress', String(await html`${bar}`));
    await sleep(EVERY_MS, closing);
  }
}

function event(name: string, text: string): string {
  return `event: ${name}\n${text
    .split('\n')
    .map((line) => `data: ${line}\n`)
    .join('')}\n`;
}
