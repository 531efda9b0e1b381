// A control group with a limit of memory, where this machine lets the tests make one: its processes are killed beyond it.
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

export interface MemoryCgroup {
  /** Puts a process into the group; the processes that it starts from now on belong to it too. */
  add(pid: number): void;
  /** The most memory that the group had at any moment, in bytes, or null where the kernel does not report it. */
  peakBytes(): number | null;
  /** How many processes were killed because of the limit, or null where the kernel does not report it. */
  kills(): number | null;
}

interface Files {
  readonly folder: string;
  readonly limit: string;
  readonly peak: string;
  readonly events: string;
}

const V2: Files = {
  folder: '/sys/fs/cgroup',
  limit: 'memory.max',
  peak: 'memory.peak',
  events: 'memory.events',
};
const V1: Files = {
  folder: '/sys/fs/cgroup/memory',
  limit: 'memory.limit_in_bytes',
  peak: 'memory.max_usage_in_bytes',
  events: 'memory.oom_control',
};

/** A group with this limit that ends with the test; null where none can be made (no root, or no controller). */
export function makeMemoryCgroup(limitBytes: number): MemoryCgroup | null {
  const files = existsSync(V1.folder) ? V1 : V2;
  const group = join(files.folder, `rolecall-test-${process.pid}-${Date.now()}`);
  try {
    mkdirSync(group);
  } catch {
    return null;
  }
  onTestFinished(() => rmdirSync(group));
  if (!existsSync(join(group, files.limit))) return null;
  writeFileSync(join(group, files.limit), String(limitBytes));
  const read = (name: string): string | null => {
    const file = join(group, name);
    return existsSync(file) ? readFileSync(file, 'utf8') : null;
  };
  return {
    add: (pid) => writeFileSync(join(group, 'cgroup.procs'), String(pid)),
    peakBytes: () => (read(files.peak) === null ? null : Number(read(files.peak))),
    kills: () => {
      const count = /^oom_kill (\d+)$/m.exec(read(files.events) ?? '')?.[1];
      return count === undefined ? null : Number(count);
    },
  };
}
