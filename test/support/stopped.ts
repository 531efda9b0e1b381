// A process that was stopped by SIGSTOP: whether it is, and waking it.
import { readFileSync } from 'node:fs';
import type { Running } from './workspace.ts';

/** Resolves when the process is stopped (true) or has ended (false). */
export async function hasStopped({ process: child }: Running): Promise<boolean> {
  const state = (): string => {
    if (child.exitCode !== null || child.signalCode !== null) return 'ended';
    try {
      // The name of the command is in brackets and can contain any character.
      return readFileSync(`/proc/${child.pid}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .slice(0, 1);
    } catch {
      return 'ended';
    }
  };
  // On a busy machine a start alone may take long; the test's own limit is the one that counts.
  while (!['T', 'Z', 'ended'].includes(state())) await new Promise((resolve) => setTimeout(resolve, 20));
  return state() === 'T';
}
