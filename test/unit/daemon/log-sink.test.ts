// Log lines for a terminal; and a reader that stalls: nothing waits for it, and what it misses is counted.
import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createLogSink, readableLine } from '../../../src/daemon/open-log.ts';

const { O_RDONLY, O_WRONLY, O_NONBLOCK } = constants;

/** A pipe with both ends in this process; `read` takes what is in it, and `leave` closes the reader's end. */
function openPipe(): { readonly writeFd: number; read(): string; leave(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'rolecall-pipe-'));
  execFileSync('mkfifo', [join(folder, 'pipe')]);
  const readFd = openSync(join(folder, 'pipe'), O_RDONLY | O_NONBLOCK);
  const writeFd = openSync(join(folder, 'pipe'), O_WRONLY | O_NONBLOCK);
  const open = new Set([readFd, writeFd]);
  onTestFinished(() => {
    for (const fd of open) closeSync(fd);
    rmSync(folder, { recursive: true });
  });
  return {
    writeFd,
    read() {
      const bytes = Buffer.alloc(1024 ** 2);
      try {
        return bytes.toString('utf8', 0, readSync(readFd, bytes));
      } catch {
        return '';
      }
    },
    leave() {
      open.delete(readFd);
      closeSync(readFd);
    },
  };
}

it('log lines are written in their order while their reader keeps up', async () => {
  const pipe = openPipe();
  const sink = createLogSink(pipe.writeFd, { onDropped: () => expect.fail('nothing was dropped') });
  sink.write('one\n');
  sink.write('two\n');
  await sink.close(5000);
  expect(pipe.read()).toBe('one\ntwo\n');
  sink.write('after the end\n');
});

it('log lines beyond the limit are dropped, counted, and reported once when the reader reads again', async () => {
  const pipe = openPipe();
  const reports: number[] = [];
  const sink = createLogSink(pipe.writeFd, {
    onDropped: (lines) => reports.push(lines),
    maxWaitingBytes: 100_000,
  });
  const line = (index: number): string => `${String(index).padStart(9)}\n`;
  for (let index = 0; index < 20_000; index += 1) sink.write(line(index));
  sink.write('    two\n    lines\n'.repeat(10_000));
  const dropped = sink.droppedTotal();
  expect(dropped).toBe(10_000 + 20_000);
  expect(reports).toEqual([]);

  let text = '';
  await vi.waitUntil(() => (text += pipe.read()) !== '' && reports.length > 0, 60_000);
  text += pipe.read();
  expect(reports).toEqual([dropped]);
  expect(text).toBe(Array.from({ length: 10_000 }, (_, index) => line(index)).join(''));
  sink.write('again\n');
  await sink.close(5000);
  expect([pipe.read(), sink.droppedTotal(), reports.length]).toEqual(['again\n', dropped, 1]);
});

it('a log reader that stalls, or that has ended, delays the end for a limited time only', async () => {
  for (const hasLeft of [false, true]) {
    const pipe = openPipe();
    const sink = createLogSink(pipe.writeFd, { onDropped: () => expect.fail('nobody reads a report') });
    sink.write('line\n'.repeat(50_000));
    if (hasLeft) pipe.leave();
    await sink.close(200);
  }
});

it('on a terminal each event is one line, with the account, what happened and the run', () => {
  vi.stubEnv('NO_COLOR', '1');
  const shown = (data: object, level = 30) => {
    const time = new Date(2026, 10, 26, 16, 19, 13).toISOString();
    return readableLine(JSON.stringify({ level, time, msg: 'run ended', ...data }));
  };
  const end = { event: 'run_ended', account: 'big', runId: '01a20930-0f7b-7000-8000-000000000000' };
  const counts = {
    created: 112,
    deleted: 4,
    held: 299,
    failed: 0,
    seconds: 41.26,
    mode: 'apply',
    actor: 'x',
  };
  const run = 'run 01a20930-0f7b\n';
  expect(shown({ ...end, ...counts, status: 'held' })).toBe(
    `16:19:13  big  112 created, 4 deleted, 299 held in 41.3 s  ${run}`,
  );
  const none = { ...counts, created: 0, deleted: 0, held: 0, seconds: 0.2 };
  expect(shown({ ...end, ...none, status: 'converged' })).toBe(`16:19:13  big  converged in 200 ms  ${run}`);
  const failed = { ...none, failed: 1, status: 'partial', code: 'unauthorized', error: 'no\n\u001b[2J' };
  expect(shown({ ...end, ...failed }, 50)).toBe(
    `16:19:13  big  error: partial: 1 failed in 200 ms; unauthorized: no\\u000a\\u001b[2J  ${run}`,
  );
  const data = {
    digest: `sha256:${'ab'.repeat(32)}`,
    kept: 0,
    none: null,
    file: 'a b',
    list: ['x'],
    on: true,
  };
  expect(shown({ event: 'planned', msg: 'the plan has changes', ...data }, 40)).toBe(
    '16:19:13  warning: the plan has changes digest=abababababab file="a b" list=["x"] on=true\n',
  );
});
