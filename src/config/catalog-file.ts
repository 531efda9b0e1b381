// Reads shared catalogs (`extends`) and merges their lists with the account's own.
import type { DesiredEntry, Kind } from '../core/catalog.ts';
import type { ConfigIssue } from '../core/errors.ts';
import { nearKey } from '../core/names.ts';
import { type WrittenEntry, LIST_KEYS, type WrittenLists, readNameLists } from './name-list.ts';
import { type YamlFile, quoted, parseYaml } from '../yaml/yaml-file.ts';
import { catalogSchema } from './catalog-schema.ts';
import type { ConfigurationFiles } from './configuration-files.ts';
import { fewIssues, sortedIssues } from '../core/issue-limit.ts';
import { nearestWord } from '../core/did-you-mean.ts';
import { keyText } from '../yaml/node-lookup.ts';
import type { SourceRead } from '../yaml/source-text.ts';
import type { Node } from 'yaml';

export interface CatalogRead {
  readonly lists: WrittenLists;
  readonly issues: readonly ConfigIssue[];
  /** The file does not exist, so the issue belongs to the account's `extends`. */
  readonly missing: boolean;
  /** Its path leads out of the repository that contains the configuration. */
  readonly leadsOut: boolean;
}

/** The catalogs of one load: each is read once for all accounts, and parsed when the first account needs it. */
export interface Catalogs {
  read(file: string): CatalogRead;
  /** Changes when the catalog changes; see `SourceRead`. */
  digest(file: string): string;
}

interface Merged {
  readonly first: WrittenEntry;
  /** Undefined for most entries, to save memory. */
  formerly?: Map<string, { readonly at: number; readonly issue: YamlFile['issue'] }>;
}

export function openCatalogs(files: ConfigurationFiles): Catalogs {
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
      const found = reads.get(file) ?? { ...readCatalog(source(file)), leadsOut: files.leadsOut(file) };
      reads.set(file, found);
      return found;
    },
  };
}

/**
 * Merges the lists of one kind of an account: a name in several files is one entry, with all its former names. Errors:
 * a former name that is desired, or that two entries have. Warning: names that differ only in their spelling.
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
    issues: [...formerIssues(kind, merged), ...nearDuplicateIssues(kind, merged)],
  };
}

function readCatalog(read: SourceRead): Omit<CatalogRead, 'leadsOut'> {
  if ('issue' in read) return { lists: {}, issues: [read.issue], missing: read.missing };
  const { variants = [], issues } = parseYaml(read.source);
  const [first, ...others] = variants.map(readVariant);
  if (first === undefined) return { lists: {}, issues, missing: false };
  if (issues.length === 0) return { ...first, missing: false };
  const all = [...issues, ...first.issues, ...others.flatMap((other) => other.issues)];
  return { lists: first.lists, issues: fewIssues(sortedIssues(all)), missing: false };
}

function readVariant(file: YamlFile): Pick<CatalogRead, 'lists' | 'issues'> {
  const known = Object.keys(catalogSchema.shape);
  const unknown = file.root.items
    .filter(({ key }) => !known.includes(keyText(key)))
    .map(({ key }) => {
      const near = nearestWord(keyText(key), known);
      const fix =
        near === undefined
          ? `a catalog has only ${Object.values(LIST_KEYS).join(' and ')}; remove this key`
          : `did you mean ${quoted(near)}?`;
      return file.issue(key as Node, `unknown key ${quoted(keyText(key))}; ${fix}`);
    });
  const names = readNameLists(file);
  return { lists: names.lists, issues: fewIssues([...unknown, ...names.issues]) };
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
