// Parses the values of options.
import { InvalidArgumentError } from 'commander';

const UNITS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** A duration in milliseconds. */
export function duration(text: string): number {
  const match = /^(\d+)(ms|s|m|h|d)$/.exec(text);
  const unit = match?.[2];
  if (match === null || unit === undefined || !Object.hasOwn(UNITS, unit)) {
    throw new InvalidArgumentError('Use a duration such as 500ms, 30s, 15m, 2h or 90d.');
  }
  return Number(match[1]) * UNITS[unit as keyof typeof UNITS];
}

export function positive(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('Use a whole number of 1 or more.');
  return Number(text);
}

export function port(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) {
    throw new InvalidArgumentError('Use a port from 0 to 65535.');
  }
  return Number(text);
}
