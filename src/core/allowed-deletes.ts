// The lines of `allowedDeletes`: each releases one entry through its last day, and is then used up.
import type { AllowedDelete, DesiredCatalog, Kind } from './catalog.ts';
import { DAY_MS, utcTime } from './durations-and-sizes.ts';
import { nameKey } from './names.ts';
import type { Plan } from './plan.ts';

/** How many days after the plan the suggested line expires. */
const ALLOWANCE_DAYS = 14;

/** The entry that an allowance released in an applied run, by the journal. */
export interface ReleasedEntry {
  readonly kind: Kind;
  readonly remoteId: string;
  /** The allowance, as `allowanceText` writes it. */
  readonly allowance: string;
  /** The run that deleted the entry; null while none has. */
  readonly deletedByRun: string | null;
}

/** Whether an allowance is valid on a day (`YYYY-MM-DD`, UTC), its last day included. */
export function isOpen({ expires }: AllowedDelete, today: string): boolean {
  return today <= expires;
}

/** The name and the last day of an allowance: another last day makes another allowance. */
export function allowanceText({ name, expires }: Pick<AllowedDelete, 'name' | 'expires'>): string {
  return `${expires} ${nameKey(name)}`;
}

/** The deletes of a plan that an open allowance names, needed or not; the run that applies the plan uses them up. */
export function releasedBy(
  { allowedDeletes }: DesiredCatalog,
  { operations, createdAt }: Plan,
): Omit<ReleasedEntry, 'deletedByRun'>[] {
  const open = allowedDeletes.filter((allowance) => isOpen(allowance, createdAt.slice(0, 10)));
  return operations.flatMap(({ action, kind, name, remoteId }) => {
    if (action === 'create' || remoteId === undefined) return [];
    const naming = open.filter((each) => each.kind === kind && nameKey(each.name) === nameKey(name));
    return naming.map((allowance) => ({ kind, remoteId, allowance: allowanceText(allowance) }));
  });
}

/** What used up the allowance of this entry: another entry of its name, or an earlier one with the same id. Or null. */
export function usedUpBy(
  allowance: AllowedDelete,
  remoteId: string,
  released: readonly ReleasedEntry[],
): ReleasedEntry | null {
  const text = allowanceText(allowance);
  const isUsed = (each: ReleasedEntry): boolean => each.remoteId !== remoteId || each.deletedByRun !== null;
  return (
    released.find((each) => each.kind === allowance.kind && each.allowance === text && isUsed(each)) ?? null
  );
}

/** Why a used allowance does not release an entry. */
export function usedUpText({ name, expires }: AllowedDelete, { deletedByRun }: ReleasedEntry): string {
  const run = deletedByRun === null ? '' : `, which run ${deletedByRun} deleted`;
  return `the line for “${name}” until ${expires} was used for another entry${run}`;
}

/** The last day to suggest for an entry: one that makes an allowance which was never used. */
export function suggestedExpiry(
  { kind, name }: Pick<AllowedDelete, 'kind' | 'name'>,
  nowMs: number,
  released: readonly ReleasedEntry[],
): string {
  const used = new Set(released.filter((each) => each.kind === kind).map(({ allowance }) => allowance));
  for (let days = ALLOWANCE_DAYS; ; days += 1) {
    const expires = utcTime(nowMs + days * DAY_MS).slice(0, 'YYYY-MM-DD'.length);
    if (!used.has(allowanceText({ name, expires }))) return expires;
  }
}
