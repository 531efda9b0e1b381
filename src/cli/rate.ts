// How fast something advances, and how long the rest takes. Time is an argument.

/** Only what was done within this time counts, so that the rate follows the service. */
const WINDOW_MS = 10_000;
/** A rate over less time than this is not meaningful. */
const SHORTEST_MS = 1000;

interface Sample {
  readonly atMs: number;
  readonly done: number;
}

export interface Rate {
  /** Notes how much was done by this time. Times and counts must not decrease. */
  note(done: number, atMs: number): void;
  /** Per second; null while that is unknown. */
  perSecond(nowMs: number): number | null;
  /** The remaining time in milliseconds; null while that is unknown. */
  remainingMs(total: number, nowMs: number): number | null;
}

export function createRate(): Rate {
  const samples: Sample[] = [];

  /** The last sample that is older than the window, or the first one. */
  function start(nowMs: number): Sample | undefined {
    while ((samples[1]?.atMs ?? Infinity) <= nowMs - WINDOW_MS) samples.shift();
    return samples[0];
  }

  function perSecond(nowMs: number): number | null {
    const first = start(nowMs);
    const last = samples.at(-1);
    if (first === undefined || last === undefined) return null;
    const passedMs = nowMs - first.atMs;
    if (passedMs < SHORTEST_MS || last.done <= first.done) return null;
    return ((last.done - first.done) * 1000) / passedMs;
  }

  return {
    note(done, atMs) {
      // Enough to compute the rate, however many things are done in a second.
      const last = samples.at(-1);
      if (last !== undefined && samples.length > 1 && atMs - (samples.at(-2)?.atMs ?? 0) < 100) samples.pop();
      samples.push({ atMs, done });
    },
    perSecond,
    remainingMs(total, nowMs) {
      const rate = perSecond(nowMs);
      const done = samples.at(-1)?.done ?? 0;
      return rate === null ? null : (Math.max(0, total - done) * 1000) / rate;
    },
  };
}

/** `19.8/s`, `120/s`, `12/min`. */
export function rateText(perSecond: number): string {
  if (perSecond >= 100) return `${Math.round(perSecond)}/s`;
  return perSecond >= 1
    ? `${perSecond.toFixed(1)}/s`
    : `${(perSecond * 60).toFixed(perSecond < 0.1 ? 1 : 0)}/min`;
}

/** A duration for people: `8 s`, `1 min 20 s`, `2 h 5 min`. Rounded up, since it is about waiting. */
export function durationText(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return joined(`${minutes} min`, seconds % 60, 's');
  return joined(`${Math.floor(minutes / 60)} h`, minutes % 60, 'min');
}

function joined(larger: string, smaller: number, unit: string): string {
  return smaller === 0 ? larger : `${larger} ${smaller} ${unit}`;
}
