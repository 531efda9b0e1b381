// Log lines and a reader that stalls: nothing waits for it, and what it misses is counted.
import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createLogSink } from '../../../src/daemon/log-sink.ts';

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

it('a log line is written at once while its reader keeps up', () => {
  const pipe = openPipe();
  const sink = createLogSink(pipe.writeFd, { onDropped: () => expect.fail('nothing was dropped') });
  sink.write('one\n');
  sink.write('two\n');
  expect(pipe.read()).toBe('one\ntwo\n');
});

it('log lines beyond the limit are dropped, counted, and reported once when the reader reads again', async () => {
  const pipe = openPipe();
  const reports: number[] = [];
  const sink = createLogSink(pipe.writeFd, {
    onDropped: (lines) => reports.push(lines),
    maxWaitingBytes: 10_000,
  });
  const line = (index: number): string => `${String(index).padStart(9)}\n`;
  for (let index = 0; index < 20_000; index += 1) sink.write(line(index));
  const dropped = sink.droppedTotal();
  expect(dropped).toBeGreaterThan(1000);
  expect(reports).toEqual([]);
  expect(await sink.flush(50)).toBe(false);

  let text = '';
  while (reports.length === 0) {
    text += pipe.read();
    await sink.flush(0);
  }
  text += pipe.read();
  expect(reports).toEqual([dropped]);
  const kept = 20_000 - dropped;
  expect(text).toBe(Array.from({ length: kept }, (_, index) => line(index)).join(''));
  sink.write('again\n');
  expect(pipe.read()).toBe('again\n');
  expect([sink.droppedTotal(), reports.length]).toEqual([dropped, 1]);
});

it('a log reader that has ended causes only the loss of log lines', async () => {
  const fd = openSync('/dev/null', 'r');
  onTestFinished(() => closeSync(fd));
  const sink = createLogSink(fd, { onDropped: () => expect.fail('nobody reads a report') });
  sink.write('one\n');
  sink.write('two\n');
  expect([sink.droppedTotal(), await sink.flush(0)]).toEqual([2, true]);
});

it('every waiting log line is counted as dropped when the reader has ended', async () => {
  const pipe = openPipe();
  const sink = createLogSink(pipe.writeFd, { onDropped: () => expect.fail('nobody reads a report') });
  const lines = Array.from({ length: 20_000 }, (_, index) => `${String(index).padStart(9)}\n`);
  for (const line of lines.slice(0, 10_000)) sink.write(line);
  // The waiting lines become one chunk, and more lines follow it.
  expect(await sink.flush(0)).toBe(false);
  for (const line of lines.slice(10_000)) sink.write(line);
  const seen = pipe.read().split('\n').length - 1;
  pipe.leave();
  expect(await sink.flush(0)).toBe(true);
  expect(sink.droppedTotal()).toBe(lines.length - seen);
});

it('a dropped text of several lines counts as that many', () => {
  const fd = openSync('/dev/null', 'r');
  onTestFinished(() => closeSync(fd));
  const sink = createLogSink(fd, { onDropped: () => expect.fail('nobody reads a report') });
  sink.write('one\n    two\n    three\n');
  expect(sink.droppedTotal()).toBe(3);
});
