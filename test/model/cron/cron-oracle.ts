// When a cron line ticks, determined by trying every moment. It shares nothing with the daemon except the zone tables
// of the platform. It is slow, and simple enough to be trusted.

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Every zone changes its offset at a moment that is a whole quarter of an hour. */
const QUARTER = 15 * MINUTE;

interface Line {
  readonly stepMs: number;
  readonly repeatsHours: boolean;
  readonly matches: (wallMs: number) => boolean;
}

/**
 * All ticks after `afterMs` and not after `upToMs`, in order. A time that daylight saving skips ticks later by the
 * skipped time. A time that occurs twice ticks the first time only, unless the hour field begins with `*`.
 */
export function ticksBetween(cron: string, timezone: string, afterMs: number, upToMs: number): number[] {
  const line = lineOf(cron);
  const ticks = new Set<number>();
  for (let ms = ceil(afterMs + 1, line.stepMs); ms <= upToMs; ms += line.stepMs) {
    const wallMs = ms + offsetAt(ms, timezone);
    if (line.matches(wallMs) && (line.repeatsHours || !wasShownBefore(ms, wallMs, timezone))) ticks.add(ms);
  }
  for (const change of changes(timezone, afterMs - DAY, upToMs + DAY)) {
    const { before, after } = change;
    for (let wallMs = change.atMs + before; wallMs < change.atMs + after; wallMs += line.stepMs) {
      const ms = wallMs - before;
      if (line.matches(wallMs) && ms > afterMs && ms <= upToMs) ticks.add(ms);
    }
  }
  return [...ticks].toSorted((a, b) => a - b);
}

const lines = new Map<string, Line>();

function lineOf(cron: string): Line {
  const known = lines.get(cron) ?? readLine(cron);
  lines.set(cron, known);
  return known;
}

function readLine(cron: string): Line {
  const fields = cron.split(' ');
  const hasSeconds = fields.length === 6;
  const [second = '0', minute = '', hour = '', day = '', month = '', weekday = ''] = hasSeconds
    ? fields
    : ['0', ...fields];
  const seconds = valuesOf(second, 0, 59);
  const minutes = valuesOf(minute, 0, 59);
  const hours = valuesOf(hour, 0, 23);
  const days = valuesOf(day, 1, 31);
  const months = valuesOf(month, 1, 12);
  const weekdays = new Set([...valuesOf(weekday, 0, 7)].map((value) => value % 7));
  return {
    stepMs: hasSeconds ? 1000 : MINUTE,
    repeatsHours: hour.startsWith('*'),
    matches(wallMs) {
      const wall = new Date(wallMs);
      const byDay = days.has(wall.getUTCDate());
      const byWeekday = weekdays.has(wall.getUTCDay());
      return (
        seconds.has(wall.getUTCSeconds()) &&
        minutes.has(wall.getUTCMinutes()) &&
        hours.has(wall.getUTCHours()) &&
        months.has(wall.getUTCMonth() + 1) &&
        (days.size === 31 || weekdays.size === 7 ? byDay && byWeekday : byDay || byWeekday)
      );
    },
  };
}

function valuesOf(field: string, min: number, max: number): Set<number> {
  const values = new Set<number>();
  for (const item of field.split(',')) {
    const [range = '', step = '1'] = item.split('/');
    const [from, to = from] = range === '*' ? [min, max] : range.split('-').map(Number);
    for (let value = from ?? min; value <= (to ?? max); value += Number(step)) values.add(value);
  }
  return values;
}

function wasShownBefore(ms: number, wallMs: number, timezone: string): boolean {
  return [30 * MINUTE, HOUR, 2 * HOUR].some(
    (agoMs) => ms - agoMs + offsetAt(ms - agoMs, timezone) === wallMs,
  );
}

/** The moments at which the zone's clocks go forward. */
function changes(
  timezone: string,
  fromMs: number,
  toMs: number,
): { readonly atMs: number; readonly before: number; readonly after: number }[] {
  const found = [];
  for (let ms = ceil(fromMs, QUARTER); ms <= toMs; ms += QUARTER) {
    const before = offsetAt(ms - QUARTER, timezone);
    const after = offsetAt(ms, timezone);
    if (after > before) found.push({ atMs: ms, before, after });
  }
  return found;
}

const formats = new Map<string, Intl.DateTimeFormat>();
const offsets = new Map<string, number>();

/** The offset of the zone from UTC; read from the platform once for each quarter of an hour. */
function offsetAt(ms: number, timezone: string): number {
  if (timezone === 'Etc/UTC') return 0;
  const quarter = Math.floor(ms / QUARTER) * QUARTER;
  const key = `${timezone} ${String(quarter)}`;
  const known = offsets.get(key);
  if (known !== undefined) return known;
  const format =
    formats.get(timezone) ??
    new Intl.DateTimeFormat('en-US', {
      timeZone: timezone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  formats.set(timezone, format);
  const parts = new Map(format.formatToParts(quarter).map(({ type, value }) => [type, Number(value)]));
  const part = (name: Intl.DateTimeFormatPartTypes): number => parts.get(name) ?? 0;
  const wall = Date.UTC(
    part('year'),
    part('month') - 1,
    part('day'),
    part('hour'),
    part('minute'),
    part('second'),
  );
  if (offsets.size > 200_000) offsets.clear();
  offsets.set(key, wall - quarter);
  return wall - quarter;
}

function ceil(ms: number, step: number): number {
  return Math.ceil(ms / step) * step;
}
