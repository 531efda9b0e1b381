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

const DAY = /^\d{4}-\d{2}-\d{2}$/u;
const DATE_TIME =
  /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?<zone>[Zz]|[+-]\d{2}:\d{2})?$/u;

/** A moment in epoch milliseconds: an ISO 8601 date, which means its end in UTC, or a date and time, UTC without a zone. */
export function moment(text: string): number {
  const match = DATE_TIME.exec(text);
  const iso = DAY.test(text)
    ? `${text}T23:59:59.999Z`
    : match === null
      ? ''
      : `${text.replace(' ', 'T')}${match.groups?.['zone'] === undefined ? 'Z' : ''}`;
  const ms = Date.parse(iso.toUpperCase());
  // JavaScript accepts the 30th of February as the 2nd of March.
  const day = Date.parse(`${text.slice(0, 10)}T00:00:00Z`);
  if (
    Number.isNaN(ms) ||
    Number.isNaN(day) ||
    new Date(day).toISOString().slice(0, 10) !== text.slice(0, 10)
  ) {
    throw new InvalidArgumentError(
      'Use a date such as 2026-03-31, or a date and time such as 2026-03-31T14:00Z.',
    );
  }
  return ms;
}
