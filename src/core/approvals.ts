// Approvals of deletes in git: each releases one entry through its last day, and is then used up.
import type { ApprovedDelete, DesiredCatalog, Kind } from './catalog.ts';
import { DAY_MS, utcTime } from './durations-and-sizes.ts';
import { nameKey } from './names.ts';
import type { Plan } from './plan.ts';

/** How many days after the plan the suggested approval of a delete expires. */
const APPROVAL_DAYS = 14;

/** The entry that an approval released in an applied run, by the journal. */
export interface ReleasedEntry {
  readonly kind: Kind;
  readonly remoteId: string;
  /** The approval, as `approvalText` writes it. */
  readonly approval: string;
  /** The run that deleted the entry; null while none has. */
  readonly deletedByRun: string | null;
}

/** Whether an approval is valid on a day (`YYYY-MM-DD`, UTC), its last day included. */
export function isOpenApproval({ expires }: ApprovedDelete, today: string): boolean {
  return today <= expires;
}

/** The name and the last day of an approval: another last day makes another approval. */
export function approvalText({ name, expires }: Pick<ApprovedDelete, 'name' | 'expires'>): string {
  return `${expires} ${nameKey(name)}`;
}

/** The deletes of a plan that an open approval names, needed or not; the run that applies the plan uses them up. */
export function releasedBy(
  { approvedDeletes }: DesiredCatalog,
  { operations, createdAt }: Plan,
): Omit<ReleasedEntry, 'deletedByRun'>[] {
  const open = approvedDeletes.filter((approval) => isOpenApproval(approval, createdAt.slice(0, 10)));
  return operations.flatMap(({ action, kind, name, remoteId }) => {
    if (action === 'create' || remoteId === undefined) return [];
    const naming = open.filter((each) => each.kind === kind && nameKey(each.name) === nameKey(name));
    return naming.map((approval) => ({ kind, remoteId, approval: approvalText(approval) }));
  });
}

/** What used up the approval of this entry: another entry of its name, or an earlier one with the same id. Or null. */
export function usedUpBy(
  approval: ApprovedDelete,
  remoteId: string,
  released: readonly ReleasedEntry[],
): ReleasedEntry | null {
  const text = approvalText(approval);
  const isUsed = (each: ReleasedEntry): boolean => each.remoteId !== remoteId || each.deletedByRun !== null;
  return (
    released.find((each) => each.kind === approval.kind && each.approval === text && isUsed(each)) ?? null
  );
}

/** Why a used approval does not release an entry. */
export function usedUpText({ name, expires }: ApprovedDelete, { deletedByRun }: ReleasedEntry): string {
  const run = deletedByRun === null ? '' : `, which run ${deletedByRun} deleted`;
  return `the approval of “${name}” until ${expires} was used for another entry${run}`;
}

/** The last day to suggest for an approval of an entry: one that makes an approval which was never used. */
export function suggestedExpiry(
  { kind, name }: Pick<ApprovedDelete, 'kind' | 'name'>,
  nowMs: number,
  released: readonly ReleasedEntry[],
): string {
  const used = new Set(released.filter((each) => each.kind === kind).map(({ approval }) => approval));
  for (let days = APPROVAL_DAYS; ; days += 1) {
    const expires = utcTime(nowMs + days * DAY_MS).slice(0, 'YYYY-MM-DD'.length);
    if (!used.has(approvalText({ name, expires }))) return expires;
  }
}
