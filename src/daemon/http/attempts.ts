// Counts the wrong tokens of each client, so that guessing is slow.

const WINDOW_MS = 60_000;
const MAX_FAILURES = 10;
/** When one more address fails, the address whose last failure is the oldest is forgotten. */
const MAX_ADDRESSES = 10_000;

export interface Attempts {
  /** Milliseconds until the address may try again; 0 when it may try now. */
  waitMs(address: string): number;
  failed(address: string): void;
}

/** At most ten failures a minute for each client, in bounded memory. */
export function createAttempts(steadyMs: () => number): Attempts {
  // Ordered by the latest failure, so that the first is the one to forget.
  const failures = new Map<string, readonly number[]>();

  function recent(address: string): readonly number[] {
    const now = steadyMs();
    return (failures.get(clientOf(address)) ?? []).filter((at) => now - at < WINDOW_MS);
  }

  return {
    waitMs(address) {
      const times = recent(address);
      const oldest = times[times.length - MAX_FAILURES];
      return oldest === undefined ? 0 : oldest + WINDOW_MS - steadyMs();
    },
    failed(address) {
      const times = [...recent(address), steadyMs()].slice(-MAX_FAILURES);
      failures.delete(clientOf(address));
      failures.set(clientOf(address), times);
      const [oldestClient] = failures.keys();
      if (failures.size > MAX_ADDRESSES && oldestClient !== undefined) failures.delete(oldestClient);
    },
  };
}

/** The client of an address: an IPv6 client has a /64 network to itself, and an IPv4 address may be written as IPv6. */
export function clientOf(address: string): string {
  const bare = address.replace(/%.*$/, '').toLowerCase();
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(bare)?.[1];
  if (mapped !== undefined) return mapped;
  if (!bare.includes(':')) return bare;
  const [head = '', tail] = bare.split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => '0');
  return [...before, ...(tail === undefined ? [] : zeros), ...after].slice(0, 4).join(':');
}
