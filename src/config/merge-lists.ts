// The lists of an account's `extends` and its own become what it asks for (contract, section 2).
import type { DesiredEntry, Kind } from '../core/catalog.ts';
import type { ConfigIssue } from '../core/errors.ts';
import { nearKey } from '../core/names.ts';
import type { WrittenEntry } from './name-list.ts';
import { type YamlFile, quoted } from './yaml-file.ts';

interface Merged {
  readonly first: WrittenEntry;
  /** Most entries have none. */
  formerly?: Map<string, { readonly at: number; readonly issue: YamlFile['issue'] }>;
}

/**
 * One kind of an account: a name that several files hold is one entry, `formerly` united. Issues: a former name that
 * is desired, or that two entries claim; names that are near each other (a warning).
 */
export function mergeLists(
  kind: Kind,
  lists: readonly (readonly WrittenEntry[])[],
): { readonly entries: readonly DesiredEntry[]; readonly issues: readonly ConfigIssue[] } {
  const merged = new Map<string, Merged>();
  for (const entry of lists.flat()) {
    const known = merged.get(entry.name) ?? { first: entry };
    if (known.first === entry) merged.set(entry.name, known);
    addFormers(known, entry);
  }
  return {
    entries: [...merged.values()].map(toDesired),
    issues: [...formerIssues(kind, merged), ...nearIssues(kind, merged)],
  };
}

function addFormers(known: Merged, { formerly, issue }: WrittenEntry): void {
  if (formerly.length === 0) return;
  known.formerly ??= new Map();
  for (const { name, at } of formerly) {
    if (!known.formerly.has(name)) known.formerly.set(name, { at, issue });
  }
}

function toDesired({ first, formerly }: Merged): DesiredEntry {
  const isAlone = (formerly?.size ?? 0) === first.desired.formerly.length;
  return isAlone ? first.desired : { name: first.name, formerly: [...(formerly?.keys() ?? [])] };
}

function formerIssues(kind: Kind, merged: ReadonlyMap<string, Merged>): ConfigIssue[] {
  const issues: ConfigIssue[] = [];
  const owners = new Map<string, string>();
  for (const [name, { formerly }] of merged) {
    for (const [former, { at, issue }] of formerly ?? []) {
      const owner = owners.get(former);
      if (merged.has(former)) {
        const message = `the ${kind} ${quoted(former)} is both desired and in \`formerly\` of ${quoted(name)}; keep one of them`;
        issues.push(issue(at, message));
      } else if (owner !== undefined) {
        const message = `the ${kind} ${quoted(former)} is in \`formerly\` of ${quoted(owner)} too; it can become one entry only`;
        issues.push(issue(at, message));
      } else owners.set(former, name);
    }
  }
  return issues;
}

function nearIssues(kind: Kind, merged: ReadonlyMap<string, Merged>): ConfigIssue[] {
  const issues: ConfigIssue[] = [];
  const seen = new Map<string, WrittenEntry>();
  for (const { first } of merged.values()) {
    const key = nearKey(first.name);
    const other = seen.get(key);
    if (other === undefined) seen.set(key, first);
    else {
      const place = other.issue(other.at, '');
      const message =
        `the ${kind} ${quoted(first.name)} is nearly ${quoted(other.name)} (${place.file}:${place.line}); ` +
        'they differ only in case, white space, accents or look-alike forms: is one of them left over?';
      issues.push(first.issue(first.at, message, 'warning'));
    }
  }
  return issues;
}
