// Computes how long to wait before a retry. Time and random numbers are arguments.
import { DAY_MS } from './durations-and-sizes.ts';

/** If the service asks for a longer wait, the operation fails as throttled. */
export const LONGEST_WAIT_MS = 120_000;

/** A Retry-After counts as at most this: a longer one is an error of the service that would stop the account for good. */
export const LONGEST_RETRY_AFTER_MS = DAY_MS;

const BASE_MS = 250;
const CAP_MS = 20_000;

/** Exponential backoff with full jitter. `attempt` counts from 1; `random` is in [0, 1). */
export function backoffMs(attempt: number, random: number): number {
  return Math.floor(random * Math.min(CAP_MS, BASE_MS * 2 ** attempt));
}

/** The wait before the next attempt: what the service asked for, with the backoff on top of it. */
export function retryDelayMs(attempt: number, random: number, retryAfterMs: number | undefined): number {
  return retryAfterMs === undefined
    ? backoffMs(attempt, random)
    : retryAfterMs + Math.floor(random * Math.min(1000, retryAfterMs / 10));
}

/** Status codes after which a read or a delete is tried again. */
export function isRetryableStatus(status: number): boolean {
  return [408, 425, 429, 500, 502, 503, 504].includes(status);
}

/**
 * Milliseconds that a Retry-After header requests: whole seconds or an HTTP date, at most 24 hours; undefined for anything
 * else. `parseDate` turns ISO 8601 into epoch milliseconds.
 */
export function parseRetryAfter(
  header: string | undefined,
  nowMs: number,
  parseDate: (iso: string) => number,
): number | undefined {
  const text = header?.trim() ?? '';
  const waitMs = /^[0-9]+$/.test(text) ? Number(text) * 1000 : dateMs(text, nowMs, parseDate) - nowMs;
  return Number.isNaN(waitMs) ? undefined : Math.min(LONGEST_RETRY_AFTER_MS, Math.max(0, waitMs));
}

function dateMs(text: string, nowMs: number, parseDate: (iso: string) => number): number {
  const iso = isoOfHttpDate(text, nowMs);
  return iso === undefined ? Number.NaN : parseDate(iso);
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const MONTH = `(?<month>${MONTHS.join('|')})`;
const TIME = '(?<hour>[01][0-9]|2[0-3]):(?<minute>[0-5][0-9]):(?<second>[0-5][0-9]|60)';

const FORMS = [
  `(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), (?<day>[0-9]{2}) ${MONTH} (?<year>[0-9]{4}) ${TIME} GMT`,
  `(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, (?<day>[0-9]{2})-${MONTH}-(?<lastDigits>[0-9]{2}) ${TIME} GMT`,
  `(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) ${MONTH} (?<day>[0-9]{2}| [0-9]) ${TIME} (?<year>[0-9]{4})`,
].map((form) => new RegExp(`^${form}$`));

const MEAN_YEAR_MS = 31_556_952_000;

/** The date as ISO 8601 in UTC, or undefined. `nowMs` decides the century of a year with two digits. */
export function isoOfHttpDate(text: string, nowMs: number): string | undefined {
  for (const form of FORMS) {
    const parts = form.exec(text)?.groups;
    if (parts !== undefined) return isoOf(parts, nowMs);
  }
  return undefined;
}

function isoOf(parts: Readonly<Record<string, string>>, nowMs: number): string | undefined {
  const part = (name: string): number => Number(parts[name]);
  const year = parts['lastDigits'] === undefined ? part('year') : fullYear(part('lastDigits'), nowMs);
  const month = MONTHS.findIndex((name) => name === parts['month']) + 1;
  const day = part('day');
  if (day < 1 || day > daysIn(month, year)) return undefined;
  // Dates in programs cannot represent a leap second.
  const second = Math.min(part('second'), 59);
  const date = [padded(year, 4), padded(month, 2), padded(day, 2)].join('-');
  const time = [part('hour'), part('minute'), second].map((number) => padded(number, 2)).join(':');
  return `${date}T${time}Z`;
}

/** A two-digit year that would be more than 50 years ahead is in the past (RFC 9110). */
function fullYear(lastDigits: number, nowMs: number): number {
  const thisYear = 1970 + Math.floor(nowMs / MEAN_YEAR_MS);
  const year = thisYear - (thisYear % 100) + lastDigits;
  return year > thisYear + 50 ? year - 100 : year;
}

function daysIn(month: number, year: number): number {
  if (month !== 2) return [4, 6, 9, 11].includes(month) ? 30 : 31;
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
}

function padded(number: number, digits: number): string {
  return String(number).padStart(digits, '0');
}
