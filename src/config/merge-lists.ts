// Merges the lists of one kind of an account: those of its catalogs and its own. What its catalogs have in common with
// other accounts is merged once: ten thousand accounts may extend the same large catalog.
import type { DesiredEntry, Kind } from '../core/catalog.ts';
import type { ConfigIssue } from '../core/errors.ts';
import { nearKey } from '../core/names.ts';
import { type YamlFile, quoted } from './yaml/yaml-file.ts';
import type { WrittenEntry } from './name-list.ts';

type WrittenList = readonly WrittenEntry[];

export interface MergedList {
  readonly entries: readonly DesiredEntry[];
  /** Errors: a former name that is desired, or that two entries have. Warning: names that differ only in spelling. */
  readonly issues: readonly ConfigIssue[];
}

export interface ListMerger {
  /** Merges the lists of the catalogs, in order, and the account's own list. */
  merge(kind: Kind, catalogs: readonly WrittenList[], own: WrittenList | undefined): MergedList;
}

/** Merged catalogs, with what is needed to add an account's own list. */
interface SharedList extends MergedList {
  readonly names: ReadonlySet<string>;
  readonly formerNames: ReadonlySet<string>;
  readonly nearKeys: ReadonlySet<string>;
}

interface Merged {
  readonly first: WrittenEntry;
  /** Undefined for most entries, to save memory. */
  formerly?: Map<string, { readonly at: number; readonly issue: YamlFile['issue'] }>;
}

/** Merges the lists of one load. Keeps the last merged catalogs, as most accounts extend the same ones. */
export function openListMerger(): ListMerger {
  const last: { [K in Kind]?: { readonly catalogs: readonly WrittenList[]; readonly shared: SharedList } } =
    {};

  function sharedOf(kind: Kind, catalogs: readonly WrittenList[]): SharedList {
    const kept = last[kind];
    const isSame = kept?.catalogs.length === catalogs.length;
    if (isSame && kept.catalogs.every((list, index) => list === catalogs[index])) return kept.shared;
    const shared = mergeCatalogs(kind, catalogs);
    last[kind] = { catalogs, shared };
    return shared;
  }

  return {
    merge(kind, catalogs, own) {
      const shared = sharedOf(kind, catalogs);
      if (own === undefined) return shared;
      return addOwn(shared, own) ?? mergeLists(kind, [...catalogs, own]);
    },
  };
}

/** Adds an account's own list to its catalogs; undefined if that may change a shared entry or cause an issue. */
function addOwn(shared: SharedList, own: WrittenList): MergedList | undefined {
  const added: DesiredEntry[] = [];
  const nearKeys = new Set<string>();
  for (const { name, formerly, desired } of own) {
    if (formerly.length > 0 || shared.formerNames.has(name)) return undefined;
    if (shared.names.has(name)) continue;
    const key = nearKey(name);
    if (shared.nearKeys.has(key) || nearKeys.has(key)) return undefined;
    nearKeys.add(key);
    added.push(desired);
  }
  return { entries: shared.entries.concat(added), issues: shared.issues };
}

function mergeCatalogs(kind: Kind, lists: readonly WrittenList[]): SharedList {
  const merged = mergeLists(kind, lists);
  const { entries } = merged;
  return {
    ...merged,
    names: new Set(entries.map(({ name }) => name)),
    formerNames: new Set(entries.flatMap(({ formerly }) => formerly)),
    nearKeys: new Set(entries.map(({ name }) => nearKey(name))),
  };
}

/** A name in several lists is one entry, with all its former names. */
function mergeLists(kind: Kind, lists: readonly WrittenList[]): MergedList {
  const merged = new Map<string, Merged>();
  for (const entry of lists.flat()) {
    const known = merged.get(entry.name) ?? { first: entry };
    if (known.first === entry) merged.set(entry.name, known);
    addFormers(known, entry);
  }
  const entries = [...merged.values()].map(toDesired);
  const issues = [...formerIssues(kind, merged), ...nearDuplicateIssues(kind, merged)];
  return { entries, issues };
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
        const message = `the ${kind} ${quoted(former)} is both desired and in \`formerly\` of ${quoted(name)}; remove one of the two`;
        issues.push(issue(at, message));
      } else if (owner !== undefined) {
        const message = `the ${kind} ${quoted(former)} is also in \`formerly\` of ${quoted(owner)}; remove it from one of the two entries`;
        issues.push(issue(at, message));
      } else owners.set(former, name);
    }
  }
  return issues;
}

function nearDuplicateIssues(kind: Kind, merged: ReadonlyMap<string, Merged>): ConfigIssue[] {
  const issues: ConfigIssue[] = [];
  const seen = new Map<string, WrittenEntry>();
  for (const { first } of merged.values()) {
    const key = nearKey(first.name);
    const other = seen.get(key);
    if (other === undefined) seen.set(key, first);
    else {
      const place = other.issue(other.at, '');
      const message =
        `the ${kind} ${quoted(first.name)} is nearly the same as ${quoted(other.name)} (${place.file}:${place.line}); ` +
        'they differ only in case, white space, accents or look-alike characters; if they are the same, remove one';
      issues.push(first.issue(first.at, message, 'warning'));
    }
  }
  return issues;
}
