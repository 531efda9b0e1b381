// Reads shared catalogs (`extends`), and merges the lists of one kind of an account: those of its catalogs and its own.
import { type DesiredEntry, type Kind, KINDS, LIST_KEYS } from '../core/catalog.ts';
import type { ConfigIssue } from '../core/errors.ts';
import { globMatcher, groupBy, nearKey } from '../core/names.ts';
import { fewIssues } from '../core/issue-limit.ts';
import { catalogSettingsSchema, readAllowedDeletes, type WrittenLine } from './account-schema.ts';
import type { ConfigurationFiles } from './configuration-files.ts';
import { readNameLists, type WrittenEntry, type WrittenLists } from './name-list.ts';
import { checkAgainstSchema } from './schema-issues.ts';
import type { SourceRead } from './yaml/source-text.ts';
import { type NodePath, parseYaml, plainRoot, quoted } from './yaml/yaml-file.ts';

export interface CatalogRead {
  readonly lists: WrittenLists;
  readonly allowed: readonly WrittenLine[];
  readonly issues: readonly ConfigIssue[];
  /** The file does not exist, so the issue belongs to the account's `extends`. */
  readonly missing: boolean;
}

/** The catalogs of one load: each is read once for all accounts, and parsed when the first account needs it. */
export interface Catalogs {
  read(file: string): CatalogRead;
  /** Changes when the catalog changes; see `SourceRead`. */
  digest(file: string): string;
}

export function openCatalogs(files: ConfigurationFiles, today: string): Catalogs {
  const sources = new Map<string, SourceRead>();
  const reads = new Map<string, CatalogRead>();
  const source = (file: string): SourceRead => {
    const found = sources.get(file) ?? files.read(file);
    sources.set(file, found);
    return found;
  };
  return {
    digest: (file) => source(file).digest,
    read(file) {
      const found = reads.get(file) ?? readCatalog(source(file), today);
      reads.set(file, found);
      return found;
    },
  };
}

function readCatalog(read: SourceRead, today: string): CatalogRead {
  const nothing = { lists: {}, allowed: [], missing: false };
  if ('issue' in read) return { ...nothing, issues: [read.issue], missing: read.missing };
  const { file, issues } = parseYaml(read.source);
  if (file === undefined) return { ...nothing, issues };
  const lists = readNameLists(file);
  const value = plainRoot(file, Object.values(LIST_KEYS));
  if (value !== undefined) checkAgainstSchema(file, catalogSettingsSchema, value);
  const allowed = readAllowedDeletes(file, value?.['allowedDeletes'], today);
  return { lists, allowed, issues: fewIssues(issues), missing: false };
}

type WrittenList = readonly WrittenEntry[];

/** Globs of the names of a catalog that an account leaves out. */
type Except = { readonly [K in (typeof LIST_KEYS)[Kind]]?: readonly string[] | undefined };

/** The lists without the names that the globs match, and each glob that matches none, with its path in `except`. */
export function withoutNames(
  lists: WrittenLists,
  except: Except,
): { readonly lists: WrittenLists; readonly unmatched: readonly { glob: string; path: NodePath }[] } {
  const left: { [K in Kind]?: WrittenList } = { ...lists };
  const unmatched: { glob: string; path: NodePath }[] = [];
  for (const kind of KINDS) {
    const key = LIST_KEYS[kind];
    const list = lists[kind];
    for (const [index, glob] of (except[key] ?? []).entries()) {
      const matches = globMatcher(glob);
      if (list?.some(({ name }) => matches(name)) !== true) unmatched.push({ glob, path: [key, index] });
      else left[kind] = left[kind]?.filter(({ name }) => !matches(name)) ?? [];
    }
  }
  return { lists: left, unmatched };
}

export interface MergedList {
  readonly entries: readonly DesiredEntry[];
  /** The names that the account must not have. */
  readonly absent: readonly string[];
  /**
   * Errors: a name that one file wants and another one wants absent, a former name that is desired or absent, or that two
   * entries have. Warning: names that differ only in spelling.
   */
  readonly issues: readonly ConfigIssue[];
}

/** Merges the lists of the catalogs, in order, and the account's own list. */
export type MergeLists = (
  kind: Kind,
  catalogs: readonly WrittenList[],
  own: WrittenList | undefined,
) => MergedList;

/** Merges the lists of one load. Keeps the last merged catalogs, as many accounts extend the same ones and add nothing. */
export function listMerger(): MergeLists {
  const last = new Map<Kind, { readonly catalogs: readonly WrittenList[]; readonly merged: MergedList }>();
  return (kind, catalogs, own) => {
    if (own !== undefined) return mergeLists(kind, [...catalogs, own]);
    const kept = last.get(kind);
    const isSame = kept?.catalogs.length === catalogs.length;
    if (isSame && kept.catalogs.every((list, index) => list === catalogs[index])) return kept.merged;
    const merged = mergeLists(kind, catalogs);
    last.set(kind, { catalogs, merged });
    return merged;
  };
}

/** A name in several lists is one entry, with all its former names. */
function mergeLists(kind: Kind, lists: readonly WrittenList[]): MergedList {
  const named = groupBy(lists.flat(), ({ name }) => name);
  const merged = [...named.values()];
  const wanted = merged.filter(([first]) => !first.absent);
  return {
    // Most names are in one list, and all accounts that extend a catalog share its entries.
    entries: wanted.map((same) => (same.length === 1 ? same[0].desired : joined(same))),
    absent: merged.flatMap(([first]) => (first.absent ? [first.name] : [])),
    issues: [
      ...merged.flatMap((same) => contradictions(kind, same)),
      ...formerIssues(kind, named),
      ...nearDuplicateIssues(
        kind,
        wanted.map(([first]) => first),
      ),
    ],
  };
}

type SameName = readonly [WrittenEntry, ...WrittenEntry[]];

function joined(same: SameName): DesiredEntry {
  return { name: same[0].name, formerly: [...new Set(same.flatMap(({ desired }) => desired.formerly))] };
}

function contradictions(kind: Kind, [first, ...others]: SameName): ConfigIssue[] {
  return others
    .filter(({ absent }) => absent !== first.absent)
    .map((entry) => contradiction(kind, entry, first));
}

function contradiction(kind: Kind, entry: WrittenEntry, other: WrittenEntry): ConfigIssue {
  const place = other.issue(other.at, '');
  const [here, there] = entry.absent ? ['absent', 'wanted'] : ['wanted', 'absent'];
  const message = `the ${kind} ${quoted(entry.name)} is ${here} here and ${there} in ${place.file}:${place.line}:${place.column}; remove one of the two, or leave the name out of a catalog with \`except\``;
  return entry.issue(entry.at, message);
}

function formerIssues(kind: Kind, named: ReadonlyMap<string, SameName>): ConfigIssue[] {
  const issues: ConfigIssue[] = [];
  const owners = new Map<string, string>();
  for (const [name, same] of named) {
    const formers = same.flatMap((entry) => entry.formerly.map((former) => ({ ...former, entry })));
    for (const [former, [{ at, entry }]] of groupBy(formers, (each) => each.name)) {
      const owner = owners.get(former);
      const listed = named.get(former)?.[0];
      owners.set(former, owner ?? name);
      if (listed === undefined && owner === undefined) continue;
      const message =
        listed === undefined
          ? `the ${kind} ${quoted(former)} is also in \`formerly\` of ${quoted(owner ?? name)}; remove it from one of the two entries`
          : `the ${kind} ${quoted(former)} is both ${listed.absent ? 'absent' : 'desired'} and in \`formerly\` of ${quoted(name)}; remove one of the two`;
      issues.push(entry.issue(at, message));
    }
  }
  return issues;
}

/** Warnings about different names that are near. Each is compared with the first one of its kind. */
export function nearDuplicateIssues(kind: Kind, wanted: readonly WrittenEntry[]): ConfigIssue[] {
  const issues: ConfigIssue[] = [];
  const seen = new Map<string, WrittenEntry>();
  for (const first of wanted) {
    const key = nearKeyOf(first);
    const other = seen.get(key);
    if (other === undefined) seen.set(key, first);
    else {
      const place = other.issue(other.at, '');
      const message =
        `the ${kind} ${quoted(first.name)} is nearly the same as ${quoted(other.name)} (${place.file}:${place.line}); ` +
        'they differ only in case, white space, accents or look-alike characters; if they are the same, write them alike';
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
