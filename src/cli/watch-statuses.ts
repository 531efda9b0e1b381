// Shows the status of accounts again and again: redrawn on a terminal, elsewhere one block for each change.
import { setTimeout as sleep } from 'node:timers/promises';
import type { AccountStatus } from '../report/command-schemas.ts';
import { renderStatus } from '../report/status-report.ts';
import { readStatuses } from './account-statuses.ts';
import type { CommandContext } from './command-line.ts';
import type { Output } from './console.ts';
import { EXIT, type ExitStatus } from './exit-status.ts';
import { loadForStatus } from './load-accounts.ts';

const EVERY_MS = 2000;
const HOME = '\u001B[H';
const CLEAR_LINE = '\u001B[K';
const CLEAR_BELOW = '\u001B[J';
const CLEAR = '\u001B[2J';
/** A row that is longer than the screen is wide is cut there: a wrapped one would move the others off the screen. */
const NO_WRAP = '\u001B[?7l';
const WRAP = '\u001B[?7h';

/**
 * Watches until SIGINT, SIGTERM or SIGHUP, or until a change cannot be printed because the reader of a pipe has ended. Throws what
 * the reading throws: a watch must not show an old state as the present.
 */
export async function watchStatuses(
  context: CommandContext,
  names: readonly string[],
  output: Output,
): Promise<ExitStatus> {
  const stop = new AbortController();
  const onSignal = (): void => stop.abort();
  process.once('SIGINT', onSignal);
  process.once('SIGTERM', onSignal);
  process.once('SIGHUP', onSignal);
  let isPipeClosed = false;
  const onOutputError = (): void => {
    isPipeClosed = true;
    stop.abort();
  };
  process.stdout.once('error', onOutputError);
  let shown = new Map<string, string>();
  let isFirst = true;
  try {
    while (!stop.signal.aborted) {
      const nowMs = Date.now();
      const statuses = await readStatuses(await loadForStatus(context.configFile), names, nowMs);
      const states = new Map(statuses.map((status) => [status.account, stateKey(status)]));
      if (output.isTerminal) {
        // The terminal may have another size now.
        const { columns, rows } = process.stdout;
        const render = { ...output.render, width: columns || output.render.width };
        const text = renderStatus(statuses, nowMs, render);
        await output.write((isFirst ? NO_WRAP + CLEAR : '') + screen(text, rows));
      } else {
        const changed = statuses.filter(({ account }) => shown.get(account) !== states.get(account));
        const isSame = changed.length === 0 && states.size === shown.size;
        if (isFirst || !isSame) await output.print(block(changed, nowMs, output));
      }
      shown = states;
      isFirst = false;
      // With thousands of files a reading takes seconds.
      const tookMs = Date.now() - nowMs;
      await sleep(Math.max(EVERY_MS, 10 * tookMs), undefined, { signal: stop.signal }).catch(() => undefined);
    }
  } finally {
    if (output.isTerminal) await output.write(WRAP);
    process.off('SIGINT', onSignal);
    process.off('SIGTERM', onSignal);
    process.off('SIGHUP', onSignal);
    process.stdout.off('error', onOutputError);
  }
  return isPipeClosed ? EXIT.done : EXIT.interrupted;
}

/** What counts as a change. The next run is left out: it changes with each tick, also while no daemon runs. */
function stateKey(status: AccountStatus): string {
  return JSON.stringify({ ...status, nextRun: null });
}

/** The time, so that a log shows when it changed, and the accounts that changed. */
function block(changed: readonly AccountStatus[], nowMs: number, output: Output): string {
  const report = renderStatus(changed, nowMs, output.render);
  return output.render.format === 'json' ? report : `${new Date(nowMs).toISOString()}\n${report}`;
}

/** The text from the top of the screen on, cut to its height: the most urgent accounts are first. */
function screen(text: string, rows: number): string {
  const lines = text.trimEnd().split('\n');
  const room = Math.max(3, rows || 24) - 1;
  const fitting =
    lines.length <= room
      ? lines
      : [...lines.slice(0, room - 2), `… and ${lines.length - room + 1} more lines`, lines.at(-1) ?? ''];
  return `${HOME}${fitting.map((line) => `${line}${CLEAR_LINE}\n`).join('')}${CLEAR_BELOW}`;
}
