// The order in which reports show names: as people sort them, "2" before "10". JSON keeps the order of code points.
import { compareCodePoints } from '../core/names.ts';

let collator: Intl.Collator | undefined;

/** Created when it is needed, since it takes longer than loading several files. */
function byLanguage(): Intl.Collator {
  // A fixed language: the order must not depend on the machine.
  collator ??= new Intl.Collator('en', { numeric: true });
  return collator;
}

/** Compares names as people sort them; names that a reader would call equal are in the order of their code points. */
export function compareNaturally(a: string, b: string): number {
  return byLanguage().compare(a, b) || compareCodePoints(a, b);
}

/** The items sorted by name within the order of their kinds. Items of one name keep their order. */
export function sortedNaturally<T extends { readonly kind: string; readonly name: string }>(
  items: readonly T[],
  kinds: readonly string[],
): T[] {
  return items.toSorted(
    (a, b) => kinds.indexOf(a.kind) - kinds.indexOf(b.kind) || compareNaturally(a.name, b.name),
  );
}
