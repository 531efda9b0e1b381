// Cron lines: five fields, or six with seconds first (contract, section 2). Stricter than the scheduler, which takes
// `*/70` and then runs at other times than its reader expects.

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

/** What is wrong with a cron line, in words that end in the mend; undefined when it is sound. */
export function cronProblem(line: string): string | undefined {
  const parts = line.trim().split(/[ \t]+/u);
  if (parts.length !== 5 && parts.length !== 6) {
    return 'a schedule has five fields (minute hour day month weekday), or six with seconds first; write it as "*/15 * * * *"';
  }
  const fields = FIELDS.slice(FIELDS.length - parts.length);
  const values: (readonly number[])[] = [];
  for (const [index, field] of fields.entries()) {
    const parsed = fieldValues(parts[index] ?? '', field);
    if (typeof parsed === 'string') return `the ${field.label} field: ${parsed}`;
    values.push(parsed);
  }
  // The scheduler refuses a day that no month has, also where a weekday is given beside it.
  const [days = [], months = []] = values.slice(-3);
  if (!months.some((month) => days.some((day) => day <= (LONGEST_MONTH[month - 1] ?? 0)))) {
    return 'no month of this schedule has that day, so it would never run; mend the day or the month';
  }
  return undefined;
}

function fieldValues(text: string, field: Field): readonly number[] | string {
  const values: number[] = [];
  for (const item of text.split(',')) {
    const match = /^([^/-]+)(?:-([^/-]+))?(?:\/(\d{1,3}))?$/u.exec(item);
    const [, from = '', to, step] = match ?? [];
    const range = match === null ? undefined : rangeOf(from, to, field);
    if (range === undefined)
      return `use ${field.min} to ${field.max}, *, ranges a-b, lists a,b and steps */n`;
    if (range.from > range.to) return 'a range goes from the smaller to the larger value; swap them';
    if (step !== undefined) {
      if (from !== '*' && to === undefined) return 'a step follows * or a range; write it as */15 or 8-18/2';
      if (Number(step) < 1 || Number(step) > field.max) return `a step must be 1 to ${field.max}`;
    }
    for (let value = range.from; value <= range.to; value += Number(step ?? 1)) values.push(value);
  }
  return values;
}

function rangeOf(
  from: string,
  to: string | undefined,
  field: Field,
): { from: number; to: number } | undefined {
  if (from === '*') return to === undefined ? { from: field.min, to: field.max } : undefined;
  const first = valueOf(from, field);
  const last = to === undefined ? first : valueOf(to, field);
  return first === undefined || last === undefined ? undefined : { from: first, to: last };
}

function valueOf(text: string, { min, max, names }: Field): number | undefined {
  const named = names?.indexOf(text.toUpperCase()) ?? -1;
  if (named !== -1) return named + (min === 1 ? 1 : 0);
  if (!/^\d{1,2}$/u.test(text)) return undefined;
  const value = Number(text);
  return value >= min && value <= max ? value : undefined;
}
