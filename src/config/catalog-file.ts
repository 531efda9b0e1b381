// A shared catalog that accounts name in `extends`: lists of skills and roles and nothing else (contract, section 2).
import type { ConfigIssue } from '../core/errors.ts';
import { catalogSchema } from './account-schema.ts';
import type { ConfigurationFiles } from './configuration-files.ts';
import { fewIssues, sortedIssues } from './few-issues.ts';
import { LIST_KEYS, type WrittenLists, readNameLists } from './name-list.ts';
import { nearestWord } from './near-word.ts';
import { keyText } from './node-lookup.ts';
import type { SourceRead } from './source-text.ts';
import { type YamlFile, parseYaml, quoted } from './yaml-file.ts';
import type { Node } from 'yaml';

export interface CatalogRead {
  readonly lists: WrittenLists;
  readonly issues: readonly ConfigIssue[];
  /** The file is not there: the account's `extends` is what has to be mended. */
  readonly missing: boolean;
  /** Its path leads out of the repository that it has to be in. */
  readonly leadsOut: boolean;
}

/** The catalogs of one load: each is read once for all accounts, and parsed when the first of them needs it. */
export interface Catalogs {
  read(file: string): CatalogRead;
  /** Tells whether a catalog is what it was at another load; see `SourceRead`. */
  digest(file: string): string;
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
      const mend =
        near === undefined
          ? `a file that \`extends\` names holds ${Object.values(LIST_KEYS).join(' and ')} only; take it out`
          : `did you mean ${quoted(near)}?`;
      return file.issue(key as Node, `unknown key ${quoted(keyText(key))}; ${mend}`);
    });
  const names = readNameLists(file);
  return { lists: names.lists, issues: fewIssues([...unknown, ...names.issues]) };
}
