// Parses and formats durations and sizes: `500ms`, `30s`, `15m`, `2h`, `90d`, `64MiB`.

export const DAY_MS = 86_400_000;

const DURATION = /^(\d{1,12})(ms|s|m|h|d)$/u;
const SIZE = /^(\d{1,12})(B|KiB|MiB|GiB|kB|MB|GB)$/u;

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: DAY_MS };
const UNIT_BYTES: Readonly<Record<string, number>> = {
  B: 1,
  KiB: 1024,
  MiB: 1024 ** 2,
  GiB: 1024 ** 3,
  kB: 1000,
  MB: 1000 ** 2,
  GB: 1000 ** 3,
};

/** Milliseconds, or undefined when `text` is not a duration. */
export function parseDuration(text: string): number | undefined {
  return scaled(DURATION.exec(text), UNIT_MS);
}

/** Bytes, or undefined when `text` is not a size. */
export function parseSize(text: string): number | undefined {
  return scaled(SIZE.exec(text), UNIT_BYTES);
}

/** The shortest spelling of a duration that `parseDuration` accepts. */
export function formatDuration(ms: number): string {
  for (const unit of ['d', 'h', 'm', 's']) {
    const scale = UNIT_MS[unit] ?? 1;
    if (ms >= scale && ms % scale === 0) return `${ms / scale}${unit}`;
  }
  return `${ms}ms`;
}

function scaled(match: RegExpExecArray | null, units: Readonly<Record<string, number>>): number | undefined {
  if (match === null) return undefined;
  const [, digits, unit = ''] = match;
  return Number(digits) * (units[unit] ?? 1);
}
