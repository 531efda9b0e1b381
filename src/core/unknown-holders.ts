// The kinds of which nobody can tell who has what: then nothing proves that an entry is unused.
import { type Kind, KINDS, type Resource, type Warning } from './catalog.ts';
import { HELD_FIELDS, heldIds } from './usage.ts';

/**
 * Why nobody can tell who has the entries of a kind. The service lists no people, or every person lacks the field that
 * contains them. Or nobody has any entry of the kind, although the last good lists showed assignments.
 */
export type UnknownHolders = 'no_people' | 'no_assignments' | 'no_field';

/** The kinds whose holders are unknown. Without earlier people, the list is judged by itself. */
export function unknownHolders(
  resources: readonly Resource[],
  earlier: readonly Resource[] = [],
): Map<Kind, UnknownHolders> {
  const unknown = new Map<Kind, UnknownHolders>();
  for (const kind of KINDS) {
    if (resources.length === 0) unknown.set(kind, 'no_people');
    else if (lostAssignments(resources, earlier, [kind])) unknown.set(kind, 'no_assignments');
    else if (resources.every((each) => each[HELD_FIELDS[kind]] === undefined)) unknown.set(kind, 'no_field');
  }
  return unknown;
}

/** Whether nobody has any entry of one of these kinds, although somebody had one earlier. */
export function lostAssignments(
  resources: readonly Resource[],
  earlier: readonly Resource[],
  kinds: readonly Kind[],
): boolean {
  return kinds.some((kind) => {
    const has = (resource: Resource): boolean => heldIds(kind, resource).length > 0;
    return earlier.some(has) && !resources.some(has);
  });
}

/** `the service lists no people`, and so on: why the holders of a kind are unknown. */
export function unknownHoldersText(kind: Kind, why: UnknownHolders): string {
  switch (why) {
    case 'no_people':
      return 'the service lists no people';
    case 'no_assignments':
      return `no listed person has any ${kind}, although the last good lists showed some`;
    case 'no_field':
      return `the service lists all people without the field ${HELD_FIELDS[kind]}`;
    default:
      return why satisfies never;
  }
}

/** Marks a plan of which nobody can tell who has the entries of the warning's kind. */
export const UNKNOWN_HOLDERS = 'unknown_holders';

/** Warns of kinds whose holders are unknown, where entries would be deleted or assignments vanished. */
export function unknownHoldersWarnings(
  unknown: ReadonlyMap<Kind, UnknownHolders>,
  kindsWithDeletes: ReadonlySet<Kind>,
): Warning[] {
  return [...unknown].flatMap(([kind, why]): Warning[] => {
    if (why !== 'no_assignments' && !kindsWithDeletes.has(kind)) return [];
    const message = `${unknownHoldersText(kind, why)}, so nobody can tell who has which ${kind}`;
    return [{ code: UNKNOWN_HOLDERS, message, kind }];
  });
}

/** Who has the entry of a change of a plan; null where nobody can tell. */
export type HoldersOf = (change: {
  readonly kind: Kind;
  readonly usedBy?: readonly string[];
}) => readonly string[] | null;

/** Returns who has the entries of this plan's changes, by the plan itself. */
export function holdersIn({ warnings }: { readonly warnings: readonly Warning[] }): HoldersOf {
  const unknown = new Set(warnings.flatMap(({ code, kind }) => (code === UNKNOWN_HOLDERS ? [kind] : [])));
  return ({ kind, usedBy = [] }) => (unknown.has(kind) ? null : usedBy);
}
