// Who this process is, so that another one can tell whether it still lives.
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { errorCode } from '../core/error-code.ts';

/** The machine, its boot and its process namespace: only within one of these does a process id say anything. */
const NAME = hostname();
export const HOST = [
  NAME,
  readOr('', () => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()),
  readOr('', () => readlinkSync('/proc/self/ns/pid')),
].join('|');

/** Whether a process certainly is dead. Of a process of another host or namespace nobody here knows. */
export function isDead(holder: { readonly host: string | null; readonly pid: number | null }): boolean {
  if (holder.host === null || holder.pid === null) return false;
  if (holder.host !== HOST) return isEarlierBoot(holder.host);
  if (holder.pid === process.pid) return false;
  try {
    process.kill(holder.pid, 0);
    // Killed but not yet collected by its parent: it will never write again.
    return /\) Z /.test(readOr('', () => readFileSync(`/proc/${String(holder.pid)}/stat`, 'utf8')));
  } catch (error) {
    return errorCode(error) === 'ESRCH';
  }
}

/** Nothing outlives the boot that it was started in. */
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
