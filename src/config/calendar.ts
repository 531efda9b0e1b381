// Dates, instants and time zones as files write them.

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/u;
const INSTANT =
  /^(\d{4}-\d{2}-\d{2})T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/u;

/** Whether `text` is a day that the calendar has, as `YYYY-MM-DD`. */
export function isCalendarDate(text: string): boolean {
  const [, year = '', month = '', day = ''] = DATE.exec(text) ?? [];
  if (year === '') return false;
  const date = new Date(Date.UTC(2000, 0, 1));
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  return date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day) && Number(month) >= 1;
}

/** Whether `text` is a date with a time and a zone, `2026-12-24T18:00Z` or `…+01:00`. */
export function isInstant(text: string): boolean {
  const [, date] = INSTANT.exec(text) ?? [];
  return date !== undefined && isCalendarDate(date);
}

/** The first (`start`) or last (`end`) millisecond of what a date or an instant names, in UTC. */
export function windowEdge(text: string, edge: 'start' | 'end'): number {
  if (!DATE.test(text)) return Date.parse(text);
  return Date.parse(edge === 'start' ? `${text}T00:00:00.000Z` : `${text}T23:59:59.999Z`);
}

/** Whether the time zone database of this machine knows the name. */
export function isTimezone(text: string): boolean {
  // Offsets such as +02:00 are taken by some versions of Node.js and refused by others.
  if (!/^[A-Za-z]/u.test(text)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: text });
    return true;
  } catch {
    return false;
  }
}
