// Parses the values of options.
import { InvalidArgumentError } from 'commander';
import { parseDuration } from '../core/durations-and-sizes.ts';

/** A duration in milliseconds. */
export function duration(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined) throw new InvalidArgumentError('Use a duration such as 500ms, 30s, 15m, 2h or 90d.');
  return ms;
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
