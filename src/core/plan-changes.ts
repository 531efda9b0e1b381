// Explains why a plan is stale: what changed in the account and in its file between a reviewed plan and the present one.
import { firstFew, peopleHave } from './amounts.ts';
import { type Action, type DesiredCatalog, KINDS, type ObservedCatalog, type Warning } from './catalog.ts';
import { kindNameKey } from './history.ts';
import { nameKey } from './names.ts';
import type { HeldChange, LeftAlone, Operation, Plan } from './plan.ts';
import { type EntryKey, entryKey, namesByKey } from './usage.ts';

/** The warnings of a run that refuses a stale plan have this code. */
export const CHANGED_SINCE_PLAN = 'changed_since_plan';

/** What is compared of the plan that an operator reviewed. */
export type ReviewedPlan = Pick<
  Plan,
  'remoteAccountId' | 'configDigest' | 'configCommit' | 'operations' | 'held' | 'leftAlone'
>;

/** `planned`, `unplanned`: an operation that only the new plan has, or only the reviewed one, for another reason. */
export type ChangeSincePlan =
  | 'appeared'
  | 'vanished'
  | 'renamed'
  | 'people'
  | 'held'
  | 'released'
  | 'planned'
  | 'unplanned'
  | 'account'
  | 'configuration';

/** One change, as a warning of the run. `gained` and `lost` are the ids of people. */
export interface PlanChange extends Warning {
  readonly change: ChangeSincePlan;
  readonly action?: Action;
  readonly gained?: readonly string[];
  readonly lost?: readonly string[];
}

/** What the present plan was made from, and the lists before those. */
export interface PlanBasis {
  readonly desired: DesiredCatalog;
  readonly observed: ObservedCatalog;
  /** The last good lists before this run; null when the store has none. */
  readonly before: ObservedCatalog | null;
}

/** The changes in the order of the present plan, then those of operations that are no longer planned. */
export function changesSince(reviewed: ReviewedPlan, present: Plan, basis: PlanBasis): PlanChange[] {
  const facts = factsOf(reviewed, present, basis);
  const before = indexOf(reviewed);
  const now = indexOf(present);
  const general = generalChanges(reviewed, present);
  const changed = present.operations.flatMap((operation): PlanChange[] => {
    const known = before.operations.get(keyOf(operation));
    if (known !== undefined) return peopleChange(known, operation);
    return [newOperation(operation, before, facts)];
  });
  const gone = reviewed.operations
    .filter((operation) => !now.operations.has(keyOf(operation)))
    .map((operation) => goneOperation(operation, now, facts));
  return [...general, ...changed, ...gone];
}

interface PlanIndex {
  readonly operations: ReadonlyMap<string, Operation>;
  readonly held: ReadonlyMap<string, HeldChange>;
  readonly leftAlone: ReadonlyMap<string, LeftAlone>;
}

interface Facts {
  readonly desired: DesiredCatalog;
  readonly hasSameConfiguration: boolean;
  /** The present entries, and those of the last good lists, by id. */
  readonly names: ReadonlyMap<EntryKey, string>;
  readonly namesBefore: ReadonlyMap<EntryKey, string> | null;
  /** The same lists by name; the value is the id. */
  readonly idsBefore: ReadonlyMap<string, string>;
}

function factsOf(reviewed: ReviewedPlan, present: Plan, { desired, observed, before }: PlanBasis): Facts {
  const idsBefore = KINDS.flatMap((kind) =>
    (before?.[kind] ?? []).map(({ id, name }) => [kindNameKey(kind, name), id] as const),
  );
  return {
    desired,
    hasSameConfiguration: reviewed.configDigest === present.configDigest,
    names: namesByKey(observed),
    namesBefore: before === null ? null : namesByKey(before),
    idsBefore: new Map(idsBefore),
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

function indexOf({
  operations,
  held,
  leftAlone,
}: Pick<Plan, 'operations' | 'held' | 'leftAlone'>): PlanIndex {
  return {
    operations: new Map(operations.map((operation) => [keyOf(operation), operation])),
    held: new Map(held.map((change) => [keyOf(change), change])),
    leftAlone: new Map(leftAlone.map((entry) => [entryKey(entry.kind, entry.remoteId), entry])),
  };
}

function generalChanges(reviewed: ReviewedPlan, present: Plan): PlanChange[] {
  const changes: PlanChange[] = [];
  const add = (change: ChangeSincePlan, message: string): void => {
    changes.push({ code: CHANGED_SINCE_PLAN, message, change });
  };
  const { remoteAccountId, configDigest, configCommit } = reviewed;
  if (remoteAccountId !== present.remoteAccountId) {
    add(
      'account',
      `the plan was made for ${accountText(remoteAccountId)}, and the lists are of ${accountText(present.remoteAccountId)}`,
    );
  }
  if (configDigest !== present.configDigest) {
    const commits =
      configCommit === present.configCommit || configCommit === null || present.configCommit === null
        ? ''
        : ` (commit ${configCommit} → ${present.configCommit})`;
    add(
      'configuration',
      `the lists of names, the policy or the address in the account's file changed${commits}`,
    );
  }
  return changes;
}

function accountText(remoteAccountId: string | null): string {
  return remoteAccountId === null ? 'an account of unknown id' : `account ${remoteAccountId}`;
}

function peopleChange(before: Operation, now: Operation): PlanChange[] {
  const { usedBy = [] } = now;
  const known = new Set(before.usedBy);
  const current = new Set(usedBy);
  const gained = usedBy.filter((id) => !known.has(id));
  const lost = [...known].filter((id) => !current.has(id));
  if (before.name !== now.name) {
    return [changeOf(now, 'renamed', `was renamed from “${before.name}” to “${now.name}”`, { gained, lost })];
  }
  if (gained.length + lost.length === 0) return [];
  return [changeOf(now, 'people', peopleText(usedBy.length, gained, lost), { gained, lost })];
}

function peopleText(amount: number, gained: readonly string[], lost: readonly string[]): string {
  const parts = [
    ...(gained.length === 0 ? [] : [`newly ${firstFew(gained, MOST_PEOPLE)}`]),
    ...(lost.length === 0 ? [] : [`no longer ${firstFew(lost, MOST_PEOPLE)}`]),
  ];
  return `${peopleHave(amount)} now: ${parts.join('; ')}`;
}

const MOST_PEOPLE = 10;

/** Why the present plan has an operation that the reviewed one lacks. */
function newOperation(operation: Operation, before: PlanIndex, facts: Facts): PlanChange {
  const key = keyOf(operation);
  const held = before.held.get(key);
  if (held !== undefined) {
    return changeOf(operation, 'released', `was held (${held.rules.join(', ')}), and nothing holds it now`);
  }
  return operation.action === 'create' ? newCreate(operation, facts) : newDelete(operation, before, facts);
}

function newCreate(operation: Operation, facts: Facts): PlanChange {
  const { kind, name } = operation;
  const id = facts.idsBefore.get(kindNameKey(kind, name));
  if (id !== undefined) {
    const present = facts.names.get(entryKey(kind, id));
    if (present !== undefined && nameKey(present) !== nameKey(name)) {
      return changeOf(operation, 'renamed', `the entry of this name (${id}) is named “${present}” now`);
    }
  }
  if (facts.hasSameConfiguration || id !== undefined) {
    return changeOf(operation, 'vanished', 'is no longer in the account; it would be created again');
  }
  return changeOf(operation, 'planned', 'the file requests it now');
}

function newDelete(operation: Operation, before: PlanIndex, facts: Facts): PlanChange {
  const key = entryKey(operation.kind, operation.remoteId ?? '');
  const left = before.leftAlone.get(key);
  if (left !== undefined) {
    return changeOf(operation, 'planned', `was left alone (${left.rule}); it would be deleted now`);
  }
  const nameBefore = facts.namesBefore?.get(key);
  if (nameBefore !== undefined && nameKey(nameBefore) !== nameKey(operation.name)) {
    return changeOf(operation, 'renamed', `was renamed from “${nameBefore}”; it would be deleted now`);
  }
  if (!facts.hasSameConfiguration && nameBefore !== undefined) {
    return changeOf(operation, 'planned', 'the file no longer names it; it would be deleted now');
  }
  return changeOf(operation, 'appeared', 'appeared in the account; it would be deleted now');
}

/** Why the present plan lacks an operation of the reviewed one. */
function goneOperation(operation: Operation, now: PlanIndex, facts: Facts): PlanChange {
  const { kind, name, action } = operation;
  const held = now.held.get(keyOf(operation));
  if (held !== undefined) {
    const people =
      held.usedBy.length === 0 ? '' : `; people who have it: ${firstFew(held.usedBy, MOST_PEOPLE)}`;
    return changeOf(operation, 'held', `is held now (${held.rules.join(', ')})${people}`);
  }
  if (facts.desired[kind] === undefined) {
    return changeOf(operation, 'unplanned', `the file no longer manages ${kind}s`);
  }
  const isNamed = facts.desired[kind].some((entry) => entry.name === nameKey(name));
  if (action === 'create') {
    return isNamed
      ? changeOf(operation, 'appeared', 'exists in the account now')
      : changeOf(operation, 'unplanned', 'the file no longer requests it');
  }
  const key = entryKey(kind, operation.remoteId ?? '');
  const present = facts.names.get(key);
  if (present === undefined) return changeOf(operation, 'vanished', 'is no longer in the account');
  if (nameKey(present) !== nameKey(name)) return changeOf(operation, 'renamed', `is named “${present}” now`);
  const left = now.leftAlone.get(key);
  if (left !== undefined) return changeOf(operation, 'unplanned', `is left alone now (${left.rule})`);
  return changeOf(operation, 'unplanned', isNamed ? 'the file names it now' : 'is not deleted any more');
}

function changeOf(
  { kind, name, action, remoteId }: Operation,
  change: ChangeSincePlan,
  message: string,
  people: Pick<PlanChange, 'gained' | 'lost'> = {},
): PlanChange {
  return {
    code: CHANGED_SINCE_PLAN,
    message,
    change,
    action,
    kind,
    name,
    ...(remoteId === undefined ? {} : { remoteId }),
    ...people,
  };
}
