// The cron lines, zones and days that scripts are made of: ordinary ones, and those on which clocks change.

export const LINES = [
  '*/5 * * * *',
  '*/15 * * * *',
  '7 * * * *',
  '*/20 */2 * * *',
  '30 2 * * *',
  '30 1,2,3 * * *',
  '0 9 * * 1-5',
  '0 0 1 * *',
  '59 23 28-31 * *',
  '0 12 13 * 5',
  '*/30 * * * * *',
] as const;

/** Berlin and New York change by an hour, Lord Howe by half of one, Santiago at midnight, Casablanca backwards in spring. */
export const ZONES = [
  'Etc/UTC',
  'Europe/Berlin',
  'America/New_York',
  'Australia/Lord_Howe',
  'America/Santiago',
  'Asia/Kathmandu',
  'Africa/Casablanca',
] as const;

/** Moments near a clock change in one of the zones, and ends of months. */
export const CHANGES = [
  '2026-03-29T01:00:00Z',
  '2026-10-25T01:00:00Z',
  '2026-03-08T07:00:00Z',
  '2026-11-01T06:00:00Z',
  '2026-04-04T15:00:00Z',
  '2026-10-03T15:30:00Z',
  '2026-04-05T03:00:00Z',
  '2026-09-06T04:00:00Z',
  '2026-02-15T02:00:00Z',
  '2026-03-22T02:00:00Z',
  '2026-01-31T23:30:00Z',
  '2028-02-29T00:00:00Z',
  '2026-06-01T10:00:00Z',
] as const;
