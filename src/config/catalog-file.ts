// A shared catalog that accounts name in `extends`: lists of skills and roles and nothing else (contract, section 2).
import type { ConfigIssue } from '../core/errors.ts';
import { catalogSchema } from './account-schema.ts';
import { LIST_KEYS, type WrittenLists, readNameLists } from './name-list.ts';
import { nearestWord } from './near-word.ts';
import { keyText } from './node-lookup.ts';
import { readSource } from './source-text.ts';
import { parseYaml, quoted } from './yaml-file.ts';
import type { Node } from 'yaml';

export interface CatalogRead {
  readonly lists: WrittenLists;
  readonly issues: readonly ConfigIssue[];
  /** The file is not there: the account's `extends` is what has to be mended. */
  readonly missing: boolean;
}

/** Reads catalogs, each once for all the accounts of one load. */
export function catalogReader(): (file: string) => Promise<CatalogRead> {
  const reads = new Map<string, Promise<CatalogRead>>();
  return (file) => {
    const read = reads.get(file) ?? readCatalog(file);
    reads.set(file, read);
    return read;
  };
}

async function readCatalog(path: string): Promise<CatalogRead> {
  const read = await readSource(path);
  if ('issue' in read) return { lists: {}, issues: [read.issue], missing: read.missing };
  const { file, issues } = parseYaml(read.source);
  if (file === undefined) return { lists: {}, issues, missing: false };
  const known = Object.keys(catalogSchema.shape);
  const unknown = file.root.items
    .filter(({ key }) => !known.includes(keyText(key)))
    .map(({ key }) => {
      const near = nearestWord(keyText(key), known);
      const mend =
        near === undefined
          ? `a file that \`extends\` names holds ${Object.values(LIST_KEYS).join(' and ')} only`
          : `did you mean ${quoted(near)}?`;
      return file.issue(key as Node, `unknown key ${quoted(keyText(key))}; ${mend}`);
    });
  const names = readNameLists(file);
  return { lists: names.lists, issues: [...issues, ...unknown, ...names.issues], missing: false };
}
