// The histogram of the durations of runs, in parts: reading the values of ten thousand accounts at once would delay other
// work for 40 ms.
import { Histogram } from 'prom-client';

/** One part of ten thousand accounts is read in a millisecond. A prime number, which spreads numbered names evenly. */
const PARTS = 67;

/**
 * Upper bounds in seconds. The library keeps an object with the bounds as keys for each account. V8 stores it as an array
 * up to the largest bound (12 KB), unless a gap between two bounds is above 1,024. So keep 3600.
 */
const BUCKETS = [0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000, 3600];

export interface RunDurations {
  observe(account: string, seconds: number): void;
  forget(account: string): void;
  /** Together they are one metric. */
  readonly parts: readonly Histogram[];
}

export function createRunDurations(): RunDurations {
  const parts = Array.from(
    { length: PARTS },
    () =>
      new Histogram({
        name: 'rolecall_run_duration_seconds',
        help: 'Duration of runs.',
        labelNames: ['account'],
        buckets: BUCKETS,
        registers: [],
      }),
  );
  const partOf = (account: string): Histogram | undefined => parts[hash(account) % PARTS];
  return {
    observe: (account, seconds) => partOf(account)?.observe({ account }, seconds),
    forget: (account) => partOf(account)?.remove({ account }),
    parts,
  };
}

function hash(text: string): number {
  let sum = 0;
  for (let at = 0; at < text.length; at += 1) sum = (sum * 31 + text.charCodeAt(at)) >>> 0;
  return sum;
}
