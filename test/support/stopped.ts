// A process that was stopped by SIGSTOP: whether it is, and waking it.
import { readFileSync } from 'node:fs';
import { type Running, until } from './workspace.ts';

/** Resolves when the process is stopped (true) or has ended (false). */
export async function hasStopped({ process: child }: Running): Promise<boolean> {
  const state = (): string => {
    if (child.exitCode !== null || child.signalCode !== null) return 'ended';
    try {
      // The name of the command stands in brackets and may hold anything.
      return readFileSync(`/proc/${child.pid}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .slice(0, 1);
    } catch {
      return 'ended';
    }
  };
  await until('the process is stopped or has ended', () => ['T', 'Z', 'ended'].includes(state()));
  return state() === 'T';
}
