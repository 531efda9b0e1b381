// Counts the calls of a child process at its address, so that `hostConcurrency` limits all processes together.

/** Each call takes a place at the address until it ends or the process ends. `grant` allows the call of an id. */
export function countCalls(
  atHost: (call: () => Promise<void>) => Promise<void>,
  grant: (id: number) => void,
) {
  const inFlight = new Map<number, () => void>();
  let isEnded = false;
  return {
    wanted(id: number): void {
      void atHost(async () => {
        if (isEnded) return;
        await new Promise<void>((resolve) => {
          inFlight.set(id, resolve);
          grant(id);
        });
      });
    },
    returned(id: number): void {
      inFlight.get(id)?.();
      inFlight.delete(id);
    },
    end(): void {
      isEnded = true;
      for (const resolve of inFlight.values()) resolve();
    },
  };
}
