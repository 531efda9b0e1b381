// Who this process is, so that another one can tell whether it still lives.
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/** The machine, its boot and its process namespace: only within one of these does a process id say anything. */
export const HOST = [
  hostname(),
  readOr('', () => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()),
  readOr('', () => readlinkSync('/proc/self/ns/pid')),
].join('|');

/** Whether a process certainly is dead. A process of another host is never known to be. */
export function isDead(holder: { readonly host: string | null; readonly pid: number | null }): boolean {
  if (holder.host !== HOST || holder.pid === null || holder.pid === process.pid) return false;
  try {
    process.kill(holder.pid, 0);
    // Killed but not yet collected by its parent: it will never write again.
    return /\) Z /.test(readOr('', () => readFileSync(`/proc/${String(holder.pid)}/stat`, 'utf8')));
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ESRCH';
  }
}

function readOr(fallback: string, read: () => string): string {
  try {
    return read();
  } catch {
    return fallback;
  }
}
