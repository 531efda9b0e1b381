// Identifies this process in leases and runs, and finds out whether another process is dead.
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { errorCode } from '../core/errors.ts';

/** The machine, its boot and its process namespace. A process id identifies a process only within these three. */
const NAME = hostname();
export const HOST = [
  NAME,
  readOr('', () => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()),
  readOr('', () => readlinkSync('/proc/self/ns/pid')),
].join('|');

/** This process in its leases. */
export const HOLDER = `${process.pid} ${HOST}`;

/** The process and the host in a lease. */
export function holderOf(holder: string): { readonly pid: number; readonly host: string } {
  const [pid = '', ...host] = holder.split(' ');
  return { pid: Number(pid), host: host.join(' ') };
}

/** The name of the machine in the identity of its host. */
export function machineOf(host: string): string {
  return host.split('|')[0] ?? '';
}

/** Whether a process is certainly dead. For a process of another host or namespace this is unknown, so the result is false. */
export function isDead(holder: { readonly host: string | null; readonly pid: number | null }): boolean {
  if (holder.host === null || holder.pid === null) return false;
  if (holder.host !== HOST) return isEarlierBoot(holder.host);
  if (holder.pid === process.pid) return false;
  try {
    process.kill(holder.pid, 0);
    // A zombie was killed and is not yet collected by its parent; it writes nothing any more.
    return /\) Z /.test(readOr('', () => readFileSync(`/proc/${String(holder.pid)}/stat`, 'utf8')));
  } catch (error) {
    return errorCode(error) === 'ESRCH';
  }
}

/** A process of an earlier boot of this machine is dead. */
function isEarlierBoot(host: string): boolean {
  const [name, boot = ''] = host.split('|');
  const [, ownBoot = ''] = HOST.split('|');
  return name === NAME && boot !== '' && ownBoot !== '' && boot !== ownBoot;
}

function readOr(fallback: string, read: () => string): string {
  try {
    return read();
  } catch {
    return fallback;
  }
}
