// Stores that a disk, a broken copy or a careless operator has damaged in two hundred ways: every command ends with its
// result or with one clear error, and never with an internal error, a stack trace or a signal.
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { SQLite } from '../../src/platform/sqlite.ts';
import { expect, test } from 'vitest';
import { randomNumbers } from '../support/random.ts';
import { type Scene, scene } from '../support/scene.ts';
import type { Result } from '../support/workspace.ts';

const FILES = Number(process.env['ROLECALL_DAMAGED_STORES'] ?? 200);

/** A store with some runs, once as a clean stop leaves it and once as a killed process does, with its log. */
async function originals(s: Scene): Promise<{ clean: Buffer; killed: Buffer; log: Buffer }> {
  for (const skills of ['[Go]', '[Go, Zig]', '[Go]']) {
    s.configure(`skills: ${skills}`);
    await s.run(['apply', '--yes']);
  }
  const store = join(s.folder, 'data/rolecall.db');
  const clean = readFileSync(store);
  const db = new SQLite(store);
  db.prepare("insert into accounts (name) values ('other')").run();
  const [killed, log] = [readFileSync(store), readFileSync(`${store}-wal`)];
  db.close();
  return { clean, killed, log };
}

test(`every command on ${String(FILES)} damaged stores succeeds or fails with a clear error`, async () => {
  const s = await scene({ file: 'skills: [Go]', service: 'http: { listen: 127.0.0.1:0 }' });
  const { clean, killed, log } = await originals(s);
  const random = randomNumbers(Number(process.env['ROLECALL_SEED'] ?? 7));
  const below = (limit: number) => Math.floor(random() * limit);
  const data = join(s.folder, 'data');
  const store = join(data, 'rolecall.db');
  const flipped = (bytes: Buffer, from: number, to: number) => {
    const copy = Buffer.from(bytes);
    for (let n = 0; n <= below(8); n += 1) copy[from + below(to - from)] = below(256);
    return copy;
  };
  const damages: Readonly<Record<string, () => void>> = {
    truncated: () => {
      writeFileSync(store, clean);
      truncateSync(store, below(clean.length));
    },
    'with a corrupted header': () => writeFileSync(store, flipped(clean, 0, 100)),
    'with corrupted pages': () => writeFileSync(store, flipped(clean, 100, clean.length)),
    'with an overwritten page': () => {
      const copy = Buffer.from(clean);
      const start = 4096 * below(clean.length / 4096);
      writeFileSync(store, copy.fill(below(256), start, start + 4096));
    },
    'with a corrupted log': () => {
      writeFileSync(store, killed);
      writeFileSync(`${store}-wal`, flipped(log, 0, log.length));
    },
    'with a truncated log': () => {
      writeFileSync(store, killed);
      writeFileSync(`${store}-wal`, log.subarray(0, below(log.length)));
    },
  };
  const commands = [
    ['history'],
    ['show', 'last'],
    ['pause', 'acme'],
    ['backup', join(s.folder, 'copy.db')],
    ['doctor'],
    ['plan'],
    ['serve'],
  ];

  for (let n = 0; n < FILES; n += 1) {
    const [what, damage] = Object.entries(damages)[n % 6] ?? ['', () => undefined];
    const args = commands[n % commands.length] ?? [];
    rmSync(data, { recursive: true, force: true });
    mkdirSync(data);
    damage();
    copyFileSync(store, join(s.folder, 'last-damaged.db'));
    const running = s.start(args);
    if (args[0] === 'serve') {
      await s.until('it serves or has ended', () => running.process.exitCode !== null || hasRun(running));
      running.process.kill('SIGTERM');
    }
    expectClear(await running.ended, `${String(n)}: ${args.join(' ')} on a store ${what}`);
    expect(existsSync(store)).toBe(true);
  }
}, 900_000);

function hasRun(running: ReturnType<Scene['start']>): boolean {
  return /"event":"run_(ended|failed|quiet)/.test(running.output().stderr);
}

function expectClear(result: Result, what: string): void {
  const text = result.stdout + result.stderr;
  expect([what, result.signal, text]).toEqual([
    what,
    null,
    expect.not.stringMatching(/a bug in rolecall|\n\s+at /),
  ]);
  expect([what, [0, 1].includes(result.status ?? -1), text]).toEqual([what, true, text]);
  if (result.status === 1 && !/^FAIL|FAIL /m.test(result.stdout))
    expect([what, text]).toEqual([
      what,
      expect.stringMatching(/error: .*rolecall\.db|no run has the id|store/),
    ]);
}
