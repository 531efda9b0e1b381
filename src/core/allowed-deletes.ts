// The lines of `allowedDeletes`: each releases one entry, or one run, through its last day, and is then used up.
import type { AllowedDelete, AllowedEntry, AllowedRun, Kind, ReleasedEntry } from './catalog.ts';
import { DAY_MS, utcTime } from './durations-and-sizes.ts';
import { nameKey } from './names.ts';
import { yamlText } from './yaml-text.ts';

/** How many days after the plan the suggested line expires. */
const ALLOWANCE_DAYS = 14;

/** Whether a line is valid on a day (`YYYY-MM-DD`, UTC), its last day included. */
export function isOpen({ expires }: Pick<AllowedDelete, 'expires'>, today: string): boolean {
  return today <= expires;
}

export function isRunLine(line: AllowedDelete): line is AllowedRun {
  return 'atMost' in line;
}

/** The lines for entries of this kind and name. */
export function linesFor(
  lines: readonly AllowedDelete[],
  { kind, name }: { readonly kind: Kind; readonly name: string },
): AllowedEntry[] {
  return lines.filter(
    (line): line is AllowedEntry =>
      !isRunLine(line) && line.kind === kind && nameKey(line.name) === nameKey(name),
  );
}

/** What identifies a line: another last day makes another line. */
export function allowanceText(line: AllowedRun | Pick<AllowedEntry, 'name' | 'expires'>): string {
  return `${line.expires} ${'atMost' in line ? line.atMost : nameKey(line.name)}`;
}

/** The code of the warning that a line of `allowedDeletes` releases the limits; its name is the line. */
export const LIMIT_RELEASED = 'limit_released';

/** What the run that applies this plan uses up: the line of each entry that it deletes, needed or not, and that of the run. */
export interface Released {
  readonly entries: readonly Omit<ReleasedEntry, 'deletedByRun'>[];
  readonly run: string | null;
}

/** What used up the line of this entry: another entry of its name, or an earlier one with the same id. Or null. */
export function usedUpBy(
  line: AllowedEntry,
  remoteId: string,
  released: readonly ReleasedEntry[],
): ReleasedEntry | null {
  const text = allowanceText(line);
  const isUsed = (each: ReleasedEntry): boolean => each.remoteId !== remoteId || each.deletedByRun !== null;
  return released.find((each) => each.kind === line.kind && each.allowance === text && isUsed(each)) ?? null;
}

/** Why a used line does not release an entry. */
export function usedUpText({ name, expires }: AllowedEntry, { deletedByRun }: ReleasedEntry): string {
  const run = deletedByRun === null ? '' : `, which run ${deletedByRun} deleted`;
  return `the line for “${name}” until ${expires} was used for another entry${run}`;
}

/** The last day to suggest for a line: one that makes a line which was never used. */
export function suggestedExpiry(nowMs: number, isUsed: (expires: string) => boolean): string {
  for (let days = ALLOWANCE_DAYS; ; days += 1) {
    const expires = utcTime(nowMs + days * DAY_MS).slice(0, 'YYYY-MM-DD'.length);
    if (!isUsed(expires)) return expires;
  }
}

/** The line for `allowedDeletes` that allows the delete of an entry. */
export function allowLine({ kind, name, expires }: AllowedEntry): string {
  return `{ kind: ${kind}, name: ${yamlText(name)}, expires: ${expires} }`;
}

/** The line for `allowedDeletes` that allows one run so many deletes. */
export function runLine({ atMost, expires }: AllowedRun): string {
  return `{ atMost: ${atMost}, expires: ${expires} }`;
}

/** The advice to add this line. */
export function allowText(line: string): string {
  return `add ${line} to allowedDeletes`;
}
