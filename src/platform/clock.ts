// The clock of the machine. Everything else receives a Clock as an argument.
import type { Clock } from '../core/ports.ts';

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  steadyMs: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted === true) return resolve();
      const timer = setTimeout(end, ms);
      signal?.addEventListener('abort', end, { once: true });
      function end(): void {
        clearTimeout(timer);
        signal?.removeEventListener('abort', end);
        resolve();
      }
    }),
};
