// A time relative to now, for pages and reports that show the absolute time beside it.

const UNITS: readonly (readonly [ms: number, unit: string])[] = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1000, 's'],
];

/** `4 min ago`, `in 2 h`, `now`. Rounds down, so that `2 h ago` is at least two hours. Any other text is returned unchanged. */
export function relativeTime(iso: string, nowMs: number): string {
  const ms = nowMs - Date.parse(iso);
  if (Number.isNaN(ms)) return iso;
  const [size, unit] = UNITS.find(([each]) => Math.abs(ms) >= each) ?? [];
  if (size === undefined || unit === undefined) return 'now';
  const amount = `${Math.floor(Math.abs(ms) / size)} ${unit}`;
  return ms > 0 ? `${amount} ago` : `in ${amount}`;
}
