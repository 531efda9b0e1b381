// Reads and writes dates and times without Date, so that core cannot read the clock.

/** `2026-03-10 12:00:00 UTC` of epoch milliseconds, rounded up to the second. */
export function utcTime(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  const days = Math.floor(seconds / 86_400);
  const ofDay = seconds - days * 86_400;
  const time = [Math.floor(ofDay / 3600), Math.floor(ofDay / 60) % 60, ofDay % 60].map(twoDigits);
  return `${dateOf(days)} ${time.join(':')} UTC`;
}

/** The date in the proleptic Gregorian calendar, this many days after 1970-01-01; years count from March. */
function dateOf(days: number): string {
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const monthFromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * monthFromMarch + 2) / 5) + 1;
  const month = ((monthFromMarch + 2) % 12) + 1;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  return `${year}-${twoDigits(month)}-${twoDigits(day)}`;
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}

const PATTERN =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?)?\s*(Z|[+-]\d{2}:?\d{2})?$/i;

/**
 * Seconds since 1970 of an ISO 8601 timestamp, undefined for anything else. The service sends timestamps with and without
 * a zone; without one they count as UTC.
 */
export function timestampSeconds(text: string | undefined): number | undefined {
  const match = text === undefined ? null : PATTERN.exec(text.trim());
  if (match === null) return undefined;
  const [, year, month, day, hour = '0', minute = '0', second = '0', fraction = '0', zone = ''] = match;
  const days = daysSince1970(Number(year), Number(month), Number(day));
  const time = Number(hour) * 3600 + Number(minute) * 60 + Number(second) + Number(`0.${fraction}`);
  return days * 86_400 + time - zoneSeconds(zone);
}

/** `Z` and a missing zone have no digits, and are UTC. */
function zoneSeconds(zone: string): number {
  const digits = zone.replace(/\D/g, '');
  const seconds = Number(digits.slice(0, 2)) * 3600 + Number(digits.slice(2)) * 60;
  return zone.startsWith('-') ? -seconds : seconds;
}

/** Days from 1970-01-01 in the proleptic Gregorian calendar, counting years from March. */
function daysSince1970(year: number, month: number, day: number): number {
  const y = month <= 2 ? year - 1 : year;
  const monthFromMarch = (month + 9) % 12;
  const dayOfYear = Math.floor((153 * monthFromMarch + 2) / 5) + day - 1;
  const leapDays = Math.floor(y / 4) - Math.floor(y / 100) + Math.floor(y / 400);
  return y * 365 + leapDays + dayOfYear - 719_468;
}
