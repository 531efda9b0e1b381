// The calls of a process that runs a large account, counted in the daemon: `hostConcurrency` holds for all processes.
import type { ToProcess } from './run-account.ts';

/** The calls of a process, each of which takes a place at the address until it has ended or the process has. */
export function countCalls(
  atHost: (call: () => Promise<void>) => Promise<void>,
  send: (message: ToProcess) => void,
) {
  const underWay = new Map<number, () => void>();
  let isEnded = false;
  return {
    wanted(id: number): void {
      void atHost(async () => {
        if (isEnded) return;
        await new Promise<void>((resolve) => {
          underWay.set(id, resolve);
          send({ type: 'granted', id });
        });
      });
    },
    returned(id: number): void {
      underWay.get(id)?.();
      underWay.delete(id);
    },
    end(): void {
      isEnded = true;
      for (const resolve of underWay.values()) resolve();
    },
  };
}
