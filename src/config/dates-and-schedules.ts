// Dates, times, time zones and cron lines as configuration files write them.

interface Field {
  readonly label: string;
  readonly min: number;
  readonly max: number;
  readonly names?: readonly string[];
}

const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];
const WEEKDAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'];
const FIELDS: readonly Field[] = [
  { label: 'second', min: 0, max: 59 },
  { label: 'minute', min: 0, max: 59 },
  { label: 'hour', min: 0, max: 23 },
  { label: 'day of the month', min: 1, max: 31 },
  { label: 'month', min: 1, max: 12, names: MONTHS },
  { label: 'day of the week', min: 0, max: 7, names: WEEKDAYS },
];
const LONGEST_MONTH = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const DATE = /^(\d{4})-(\d{2})-(\d{2})$/u;
const INSTANT =
  /^(\d{4}-\d{2}-\d{2})T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/u;

/** The problem of a cron line and its fix, as one sentence; undefined when the line is valid. */
export function cronProblem(line: string): string | undefined {
  const parts = line.trim().split(/[ \t]+/u);
  if (parts.length !== 5 && parts.length !== 6) {
    return 'a schedule has five fields (minute hour day month weekday), or six with seconds first; write it as "*/15 * * * *"';
  }
  const fields = FIELDS.slice(FIELDS.length - parts.length);
  const values: (readonly number[])[] = [];
  for (const [index, field] of fields.entries()) {
    const parsed = fieldValues(parts[index] ?? '', field);
    if (parsed === undefined) {
      const { label, min, max } = field;
      return `the ${label} field: use ${min} to ${max}, *, ranges a-b with the smaller value first, lists a,b and steps */n or a-b/n of 1 to ${max}`;
    }
    values.push(parsed);
  }
  // The scheduler rejects a day that no month has, also if the line has a weekday.
  const [days = [], months = []] = values.slice(-3);
  if (!months.some((month) => days.some((day) => day <= (LONGEST_MONTH[month - 1] ?? 0)))) {
    return 'no month of this schedule has that day, so it would never run; change the day or the month';
  }
  return undefined;
}

/** Whether `text` is an existing calendar date, as `YYYY-MM-DD`. */
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

/** The first (`start`) or last (`end`) millisecond of a date or an instant, in UTC. */
export function windowEdge(text: string, edge: 'start' | 'end'): number {
  if (!DATE.test(text)) return Date.parse(text);
  return Date.parse(edge === 'start' ? `${text}T00:00:00.000Z` : `${text}T23:59:59.999Z`);
}

/** Whether the time zone database of this machine contains the name. */
export function isTimezone(text: string): boolean {
  // Some versions of Node.js accept offsets such as +02:00, and others reject them.
  if (!/^[A-Za-z]/u.test(text)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: text });
    return true;
  } catch {
    return false;
  }
}

/** A single value, or `*` or a range with a step. */
const ITEM = /^(?:(\d{1,2})|(?:\*|(\d{1,2})-(\d{1,2}))(?:\/(\d{1,3}))?)$/u;

/** The values that match, or undefined if the text is not valid. */
function fieldValues(text: string, { min, max, names = [] }: Field): readonly number[] | undefined {
  const digits = text.replace(/\b[A-Z]+\b/giu, (name) => String(names.indexOf(name.toUpperCase()) + min));
  const values: number[] = [];
  for (const item of digits.split(',')) {
    const [match, single, low = min, high = max, every = 1] = ITEM.exec(item) ?? [];
    const from = Number(single ?? low);
    const to = Number(single ?? high);
    const step = Number(every);
    if (match === undefined || from < min || from > to || to > max || step < 1 || step > max)
      return undefined;
    for (let value = from; value <= to; value += step) values.push(value);
  }
  return values;
}
