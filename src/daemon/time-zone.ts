// The offset of a time zone at a moment, from the tables of the platform.
const formats = new Map<string, Intl.DateTimeFormat>();

/** How far a zone is ahead of UTC at a moment, in milliseconds. */
export function offsetMs(atMs: number, timezone: string): number {
  if (timezone === 'Etc/UTC' || timezone === 'UTC') return 0;
  const parts = formatOf(timezone).formatToParts(atMs);
  const name = parts.find(({ type }) => type === 'timeZoneName')?.value ?? '';
  const match = /^GMT(?:([+-])(\d{2}):(\d{2})(?::(\d{2}))?)?$/.exec(name);
  const [, sign, hours = '0', minutes = '0', seconds = '0'] = match ?? [];
  const ms = (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000;
  return sign === '-' ? -ms : ms;
}

/** The local time of a zone at a moment, written as if the zone were UTC. */
export function localTimeMs(atMs: number, timezone: string): number {
  return atMs + offsetMs(atMs, timezone);
}

function formatOf(timezone: string): Intl.DateTimeFormat {
  const format =
    formats.get(timezone) ??
    new Intl.DateTimeFormat('en-US', { timeZone: timezone, timeZoneName: 'longOffset' });
  formats.set(timezone, format);
  return format;
}
