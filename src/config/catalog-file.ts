// Reads shared catalogs (`extends`).
import { LIST_KEYS } from '../core/catalog.ts';
import type { ConfigIssue } from '../core/errors.ts';
import { type WrittenLists, readNameLists } from './name-list.ts';
import { catalogSettingsSchema, readAllowedDeletes, type WrittenLine } from './account-schema.ts';
import { checkAgainstSchema } from './schema-issues.ts';
import { parseYaml, plainRoot } from './yaml/yaml-file.ts';
import type { ConfigurationFiles } from './configuration-files.ts';
import { fewIssues } from '../core/issue-limit.ts';
import type { SourceRead } from './yaml/source-text.ts';

export interface CatalogRead {
  readonly lists: WrittenLists;
  readonly allowed: readonly WrittenLine[];
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
      const found = reads.get(file) ?? {
        ...readCatalog(source(file), today),
        leadsOut: files.leadsOut(file),
      };
      reads.set(file, found);
      return found;
    },
  };
}

function readCatalog(read: SourceRead, today: string): Omit<CatalogRead, 'leadsOut'> {
  const nothing = { lists: {}, allowed: [], missing: false };
  if ('issue' in read) return { ...nothing, issues: [read.issue], missing: read.missing };
  const { file, issues } = parseYaml(read.source);
  if (file === undefined) return { ...nothing, issues };
  const names = readNameLists(file);
  const plain = plainRoot(file, Object.values(LIST_KEYS));
  const value = 'issue' in plain ? {} : plain.value;
  const others =
    'issue' in plain ? [plain.issue] : checkAgainstSchema(file, catalogSettingsSchema, value).issues;
  const allowed = readAllowedDeletes(file, value['allowedDeletes'], today);
  const all = [...issues, ...others, ...allowed.issues, ...names.issues];
  return { lists: names.lists, allowed: allowed.lines, issues: fewIssues(all), missing: false };
}
