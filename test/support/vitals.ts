// The resources of a running process, as Linux counts them, and how they grow.
import { readdirSync, readFileSync, statSync } from 'node:fs';

export interface Vitals {
  readonly rssMb: number;
  /** Open file descriptors. */
  readonly fds: number;
  readonly threads: number;
  readonly cpuSeconds: number;
}

export function vitalsOf(pid: number): Vitals {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  return {
    rssMb: Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024,
    threads: Number(/Threads:\s+(\d+)/.exec(status)?.[1]),
    fds: readdirSync(`/proc/${pid}/fd`).length,
    cpuSeconds: (Number(stat[11]) + Number(stat[12])) / 100,
  };
}

/** Megabytes of a SQLite file with its log. */
export function storeMb(file: string): number {
  const size = (name: string): number => statSync(name, { throwIfNoEntry: false })?.size ?? 0;
  return (size(file) + size(`${file}-wal`) + size(`${file}-shm`)) / 1024 ** 2;
}

/** The value below which that part of the values lies. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

/** How much y grows for each x, by least squares. */
export function slopeOf(points: readonly (readonly [x: number, y: number])[]): number {
  const mean = (values: readonly number[]): number =>
    values.reduce((sum, value) => sum + value, 0) / values.length;
  const [meanX, meanY] = [mean(points.map(([x]) => x)), mean(points.map(([, y]) => y))];
  const above = points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0);
  return above / points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
}
