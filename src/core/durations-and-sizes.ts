// Parses and formats durations: `500ms`, `30s`, `15m`, `2h`, `90d`; and dates and times.

export const DAY_MS = 86_400_000;

const DURATION = /^(\d{1,12})(ms|s|m|h|d)$/u;

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: DAY_MS };

/** Milliseconds, or undefined when `text` is not a duration. */
export function parseDuration(text: string): number | undefined {
  const match = DURATION.exec(text);
  return match === null ? undefined : Number(match[1]) * (UNIT_MS[match[2] ?? ''] ?? 1);
}

/** The shortest spelling of a duration that `parseDuration` accepts. */
export function formatDuration(ms: number): string {
  for (const unit of ['d', 'h', 'm', 's']) {
    const scale = UNIT_MS[unit] ?? 1;
    if (ms >= scale && ms % scale === 0) return `${ms / scale}${unit}`;
  }
  return `${ms}ms`;
}

// Only a moment that is an argument becomes a Date: core cannot read the clock.
// oxlint-disable no-restricted-globals

/** `2026-03-10 12:00:00 UTC` of epoch milliseconds, rounded up to the second. */
export function utcTime(ms: number): string {
  const iso = new Date(Math.ceil(ms / 1000) * 1000).toISOString();
  return `${iso.slice(0, 'YYYY-MM-DD'.length)} ${iso.slice('YYYY-MM-DDT'.length, 'YYYY-MM-DDThh:mm:ss'.length)} UTC`;
}

const TIMESTAMP =
  /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?))?\s*(?:Z|([+-]\d{2}):?(\d{2}))?$/i;

/**
 * Seconds since 1970 of an ISO 8601 timestamp, undefined for anything else. The service sends timestamps with and without
 * a zone; without one they count as UTC.
 */
export function timestampSeconds(text: string | undefined): number | undefined {
  const match = TIMESTAMP.exec(text?.trim() ?? '');
  if (match === null) return undefined;
  const [, day, time = '00:00', hours = '+00', minutes = '00'] = match;
  const ms = Date.parse(`${day}T${time.replace(',', '.')}${hours}:${minutes}`);
  return Number.isNaN(ms) ? undefined : ms / 1000;
}
