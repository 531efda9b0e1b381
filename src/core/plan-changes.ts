// Explains why a plan is stale: what changed in the account and in its file between a reviewed plan and the present one.
import { firstFew, peopleHave } from './amounts.ts';
import {
  allowanceText,
  isOpen,
  LIMIT_RELEASED,
  linesFor,
  type Released,
  usedUpBy,
} from './allowed-deletes.ts';
import type { DesiredCatalog, ObservedCatalog, ReleasedEntry, Warning } from './catalog.ts';
import { kindNameKey } from './history.ts';
import { nameKey } from './names.ts';
import type { HeldChange, Operation, Plan, ReviewedPlan } from './plan.ts';
import { entryKey, namesByKey } from './usage.ts';

/** The warnings of a run that refuses a stale plan have this code. */
export const CHANGED_SINCE_PLAN = 'changed_since_plan';

/** One change, as a warning of the run. */
export type PlanChange = Warning & Partial<Pick<Operation, 'action'>>;

/** More is not read by anybody, and is stored with the run. */
const MOST_CHANGES = 1000;
const MOST_PEOPLE = 10;

/** The changes in the order of the present plan, then those of operations that are no longer planned. */
export function changesSince(reviewed: ReviewedPlan, present: Plan, observed: ObservedCatalog): PlanChange[] {
  const before = indexOf(reviewed);
  const now = indexOf(present);
  const isSameFile = reviewed.configDigest === present.configDigest;
  const names = namesByKey(observed);
  const changes = [
    ...generalChanges(reviewed, present),
    ...present.operations.flatMap((operation): PlanChange[] => {
      const key = keyOf(operation);
      const known = before.operations.get(key);
      const message =
        known === undefined
          ? whyNew(operation, before.held.get(key), isSameFile)
          : whatDiffers(known, operation);
      return message === null ? [] : [changeOf(operation, message)];
    }),
    ...reviewed.operations.flatMap((operation): PlanChange[] => {
      const key = keyOf(operation);
      if (now.operations.has(key)) return [];
      const listed = names.get(entryKey(operation.kind, operation.remoteId ?? ''));
      return [changeOf(operation, whyGone(operation, now.held.get(key), { isSameFile, listed }))];
    }),
  ];
  const rest = changes.length - MOST_CHANGES;
  if (rest <= 0) return changes;
  const message = `… and ${rest} more changes; run \`rolecall plan ${present.account}\` to see the present plan`;
  return [...changes.slice(0, MOST_CHANGES), { code: CHANGED_SINCE_PLAN, message }];
}

interface PlanIndex {
  readonly operations: ReadonlyMap<string, Operation>;
  readonly held: ReadonlyMap<string, HeldChange>;
}

function indexOf({ operations, held }: Pick<Plan, 'operations' | 'held'>): PlanIndex {
  return {
    operations: new Map(operations.map((operation) => [keyOf(operation), operation])),
    held: new Map(held.map((change) => [keyOf(change), change])),
  };
}

/** Entries that exist are identified by their id, and the others by their name. */
function keyOf({
  action,
  kind,
  name,
  remoteId,
}: Pick<HeldChange, 'action' | 'kind' | 'name'> & { readonly remoteId?: string | null }): string {
  return action === 'create' ? `create ${kindNameKey(kind, name)}` : entryKey(kind, remoteId ?? '');
}

function generalChanges(reviewed: ReviewedPlan, present: Plan): PlanChange[] {
  const messages: string[] = [];
  const account = (id: string | null): string => (id === null ? 'an account of unknown id' : `account ${id}`);
  if (reviewed.remoteAccountId !== present.remoteAccountId) {
    messages.push(
      `the plan was made for ${account(reviewed.remoteAccountId)}, and the lists are of ${account(present.remoteAccountId)}`,
    );
  }
  if (reviewed.configDigest !== present.configDigest) {
    const [from, to] = [reviewed.configCommit, present.configCommit];
    const commits = from === to || from === null || to === null ? '' : ` (commit ${from} → ${to})`;
    messages.push(`the lists of names, the policy or the address in the account's file changed${commits}`);
  }
  return messages.map((message) => ({ code: CHANGED_SINCE_PLAN, message }));
}

/** How an operation of both plans differs; null when it does not. */
function whatDiffers(before: Operation, now: Operation): string | null {
  if (before.name !== now.name) return `was renamed from “${before.name}” to “${now.name}”`;
  const known = new Set(before.usedBy);
  const current = new Set(now.usedBy);
  const gained = [...current].filter((id) => !known.has(id));
  const lost = [...known].filter((id) => !current.has(id));
  if (gained.length + lost.length === 0) return null;
  const parts = [
    ...(gained.length === 0 ? [] : [`newly ${firstFew(gained, MOST_PEOPLE)}`]),
    ...(lost.length === 0 ? [] : [`no longer ${firstFew(lost, MOST_PEOPLE)}`]),
  ];
  return `${peopleHave(current.size)} now: ${parts.join('; ')}`;
}

/** Why the present plan has an operation that the reviewed one lacks. */
function whyNew({ action }: Operation, held: HeldChange | undefined, isSameFile: boolean): string {
  if (held !== undefined) return `was held (${held.rules.join(', ')}), and nothing holds it now`;
  const consequence = action === 'create' ? 'it would be created now' : 'it would be deleted now';
  if (!isSameFile) return `was not planned; ${consequence}`;
  return action === 'create'
    ? `is no longer in the account; ${consequence}`
    : `appeared in the account, or nothing leaves it alone any more; ${consequence}`;
}

/** Why the present plan lacks an operation of the reviewed one. `listed` is the present name of its entry. */
function whyGone(
  { action, name }: Operation,
  held: HeldChange | undefined,
  { isSameFile, listed }: { readonly isSameFile: boolean; readonly listed: string | undefined },
): string {
  if (held !== undefined) {
    const people = firstFew(held.usedBy, MOST_PEOPLE);
    return `is held now (${held.rules.join(', ')})${people === '' ? '' : `; people who have it: ${people}`}`;
  }
  if (action === 'create')
    return isSameFile ? 'exists in the account now' : 'exists now, or the file no longer requests it';
  if (listed === undefined) return 'is no longer in the account';
  return nameKey(listed) === nameKey(name) ? 'is not deleted any more' : `is named “${listed}” now`;
}

function changeOf({ kind, name, action, remoteId }: Operation, message: string): PlanChange {
  const id = remoteId === undefined ? {} : { remoteId };
  return { code: CHANGED_SINCE_PLAN, message, action, kind, name, ...id };
}

/** What applying a plan uses up of `allowedDeletes`. */
export function releasedBy(
  { allowedDeletes }: DesiredCatalog,
  { operations, warnings, createdAt }: Plan,
  released: readonly ReleasedEntry[],
): Released {
  const open = allowedDeletes.filter((line) => isOpen(line, createdAt.slice(0, 10)));
  const deletes = operations.filter(({ action }) => action === 'delete');
  const entries = deletes.flatMap(({ kind, name, remoteId = '' }) => {
    const line = linesFor(open, { kind, name }).find((each) => usedUpBy(each, remoteId, released) === null);
    return line === undefined ? [] : [{ kind, remoteId, allowance: allowanceText(line) }];
  });
  const run = deletes.length === 0 ? undefined : warnings.find(({ code }) => code === LIMIT_RELEASED);
  return { entries, run: run?.name ?? null };
}
