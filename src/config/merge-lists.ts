// Merges the lists of one kind of an account: those of its catalogs and its own.
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

interface Merged {
  readonly first: WrittenEntry;
  /** Undefined for most entries, to save memory. */
  formerly?: Map<string, { readonly at: number; readonly issue: YamlFile['issue'] }>;
}

/** Merges the lists of one load. Keeps the last merged catalogs, as many accounts extend the same ones and add nothing. */
export function openListMerger(): ListMerger {
  const last: { [K in Kind]?: { readonly catalogs: readonly WrittenList[]; readonly merged: MergedList } } =
    {};
  return {
    merge(kind, catalogs, own) {
      if (own !== undefined) return mergeLists(kind, [...catalogs, own]);
      const kept = last[kind];
      const isSame = kept?.catalogs.length === catalogs.length;
      if (isSame && kept.catalogs.every((list, index) => list === catalogs[index])) return kept.merged;
      const merged = mergeLists(kind, catalogs);
      last[kind] = { catalogs, merged };
      return merged;
    },
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
    const key = nearKeyOf(first);
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

/** Of the entries of catalogs, which ten thousand accounts may extend, the keys are made once. */
const nearKeys = new WeakMap<WrittenEntry, string>();

function nearKeyOf(entry: WrittenEntry): string {
  const key = nearKeys.get(entry) ?? nearKey(entry.name);
  nearKeys.set(entry, key);
  return key;
}
