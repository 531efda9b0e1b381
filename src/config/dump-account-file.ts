// Generates the account file of `dump`: replaces its lists of skills and roles by the contents of the account. The rest
// of the file stays; parts that conflict with the new lists are removed and reported.
import path from 'node:path';
import { type Node, isMap, isSeq } from 'yaml';
import { type Kind, KINDS, LIST_KEYS, type Policy } from '../core/catalog.ts';
import { approvalLine } from '../core/held-texts.ts';
import { compareCodePoints, nameKey } from '../core/names.ts';
import { yamlQuoted, yamlText } from '../core/yaml-text.ts';
import { unfoldedPolicy, withProtection } from './dump-protection.ts';
import {
  type EditableYaml,
  type NewItem,
  type Rewrite,
  addLines,
  editable,
  editList,
  itemsAt,
  pairAt,
  textOf,
  textsAt,
} from '../yaml/edit-yaml.ts';
import type { WrittenLists } from './name-list.ts';
import { nameProblem } from '../core/name-rules.ts';

/** The contents of the account, and the settings that decide how they are written. */
export interface AccountContents {
  /** Becomes `accountId` of a file that has none; null when no listed object has one. */
  readonly accountId: string | null;
  /** Names as the service lists them. */
  readonly names: Readonly<Record<Kind, readonly string[]>>;
  /** The policy of the account, merged with `defaults`. */
  readonly policy: Pick<Policy, 'protect' | 'duplicates'>;
}

/** The lists of a catalog by its absolute path. */
export type ReadCatalog = (file: string) => WrittenLists;

export interface DumpedFile {
  readonly text: string;
  /** One sentence for each change outside of the two lists, with its reason. */
  readonly notes: readonly string[];
}

interface WrittenEntry {
  readonly name: string;
  readonly formerly: readonly string[];
  /** The key `formerly` with its value, in block style. */
  readonly rename?: Rewrite['without'];
}

/** The input for the lists of the new file. */
interface Wanted {
  readonly kinds: readonly Kind[];
  /** Names that a file may contain: NFC, distinct, sorted by code points. */
  readonly names: Readonly<Record<Kind, readonly string[]>>;
  /** The names that the catalogs in `extends` still provide. */
  readonly inherited: Readonly<Record<Kind, ReadonlySet<string>>>;
}

interface Catalog {
  readonly index: number;
  readonly written: string;
  readonly lists: WrittenLists;
}

/**
 * Generates the text of the account file (`file`, which the loader accepted) that describes the current contents of the
 * account. A kind that the file and its catalogs omit stays omitted, unless they omit both. A catalog stays in
 * `extends` if the account contains all its names. A plan with the new text is empty.
 */
export function dumpAccountFile(
  { file, text }: { readonly file: string; readonly text: string },
  contents: AccountContents,
  readCatalog: ReadCatalog,
): DumpedFile {
  const notes: string[] = [];
  const start = editable(text);
  const catalogs = catalogsOf(start, path.dirname(file), readCatalog);
  const kinds = dumpedKinds(start, catalogs, contents, notes);
  const names = {
    skill: kinds.includes('skill') ? writable(contents.names.skill) : [],
    role: kinds.includes('role') ? writable(contents.names.role) : [],
  };
  if (contents.policy.duplicates === 'remove-unused') notes.push(...duplicateNotes(kinds, contents.names));
  const dropped = catalogs.filter((catalog) => isDropped(catalog, kinds, names, notes));
  const kept = catalogs.filter((catalog) => !dropped.includes(catalog));
  const inherited = { skill: namesOf(kept, 'skill'), role: namesOf(kept, 'role') };
  const wanted: Wanted = { kinds, names, inherited };
  const steps: ((yaml: EditableYaml) => string)[] = [
    (yaml) => withoutCatalogs(yaml, new Set(dropped.map(({ index }) => index))),
    (yaml) => withoutApprovals(yaml, wanted, notes),
    ...kinds.map((kind) => (yaml: EditableYaml) => withList(yaml, kind, wanted, notes)),
    (yaml) => unfoldedPolicy(yaml, kinds, contents),
    (yaml) => withProtection(yaml, kinds, contents),
    (yaml) => withPin(yaml, contents.accountId),
  ];
  return { text: steps.reduce((current, step) => step(editable(current)), start.text), notes };
}

function catalogsOf(yaml: EditableYaml, folder: string, readCatalog: ReadCatalog): Catalog[] {
  return textsAt(yaml, 'extends').map((written, index) => ({
    index,
    written,
    lists: readCatalog(path.resolve(folder, written)),
  }));
}

function dumpedKinds(
  yaml: EditableYaml,
  catalogs: readonly Catalog[],
  { names }: AccountContents,
  notes: string[],
): readonly Kind[] {
  const managed = KINDS.filter(
    (kind) =>
      pairAt(yaml, [LIST_KEYS[kind]]) !== undefined ||
      catalogs.some(({ lists }) => lists[kind] !== undefined),
  );
  if (managed.length === 0) return KINDS;
  for (const kind of KINDS) {
    if (managed.includes(kind) || names[kind].length === 0) continue;
    const key = LIST_KEYS[kind];
    notes.push(
      `the file has no list of ${key}, so the dump has none; to manage them, add \`${key}: []\` and run \`rolecall dump\` again`,
    );
  }
  return managed;
}

function duplicateNotes(kinds: readonly Kind[], names: AccountContents['names']): string[] {
  return kinds.flatMap((kind) => {
    const seen = new Set<string>();
    const again = names[kind].map(nameKey).filter((name) => seen.size === seen.add(name).size);
    const twice = sortedOnce(again);
    return twice.map(
      (name) =>
        `several entries have the name of the ${kind} “${name}”; because of policy.duplicates, a plan deletes those that nobody has`,
    );
  });
}

function namesOf(catalogs: readonly Catalog[], kind: Kind): ReadonlySet<string> {
  return new Set(catalogs.flatMap(({ lists }) => (lists[kind] ?? []).map(({ name }) => name)));
}

/** Whether a catalog lists an entry that the account does not contain, or renames one that it contains. */
function isDropped(
  { written, lists }: Catalog,
  kinds: readonly Kind[],
  names: Wanted['names'],
  notes: string[],
): boolean {
  for (const kind of kinds) {
    const contained = new Set(names[kind]);
    for (const { name, formerly } of lists[kind] ?? []) {
      const old = formerly.find((former) => contained.has(former.name));
      if (contained.has(name) && old === undefined) continue;
      const why =
        old === undefined
          ? `the account does not contain its ${kind} “${name}”`
          : `the account still contains the ${kind} “${old.name}”, which it renames to “${name}”`;
      notes.push(
        `${written} is removed from \`extends\`: ${why}; the entries that it shares with the account are in this file now`,
      );
      return true;
    }
  }
  return false;
}

function withoutCatalogs(yaml: EditableYaml, remove: ReadonlySet<number>): string {
  if (remove.size === 0) return yaml.text;
  const written = textsAt(yaml, 'extends');
  return editList(yaml, ['extends'], { remove, add: [], written: (index) => yamlText(written[index] ?? '') });
}

/** Removes the approvals for entries that the file lists now, which would be errors. */
function withoutApprovals(yaml: EditableYaml, { kinds, names }: Wanted, notes: string[]): string {
  const approvals = itemsAt(yaml, 'approvedDeletes').map((item) => ({
    kind: textOf(item, 'kind'),
    name: nameKey(textOf(item, 'name')),
    expires: textOf(item, 'expires'),
  }));
  const remove = new Set<number>();
  for (const [index, { kind, name }] of approvals.entries()) {
    if (!kinds.some((dumped) => dumped === kind && names[dumped].includes(name))) continue;
    remove.add(index);
    notes.push(`the approval to delete the ${kind} “${name}” is removed, because the file lists it now`);
  }
  if (remove.size === 0) return yaml.text;
  return editList(yaml, ['approvedDeletes'], {
    remove,
    add: [],
    written(index) {
      const { kind = '', name = '', expires = '' } = approvals[index] ?? {};
      return approvalLine(kind, name, expires);
    },
  });
}

function withList(yaml: EditableYaml, kind: Kind, wanted: Wanted, notes: string[]): string {
  const key = LIST_KEYS[kind];
  const names = new Set(wanted.names[kind]);
  const entries = itemsAt(yaml, key).map(entryOf);
  const own = new Set(entries.map(({ name }) => name));
  const added = wanted.names[kind].filter((name) => !own.has(name) && !wanted.inherited[kind].has(name));
  if (pairAt(yaml, [key]) === undefined) {
    if (added.length === 0 && wanted.inherited[kind].size > 0) return yaml.text;
    const lines = added.map((name) => `  - ${yamlText(name)}`);
    return addLines(yaml, lines.length === 0 ? [`${key}: []`] : [`${key}:`, ...lines]);
  }
  const remove = new Set(entries.flatMap(({ name }, index) => (names.has(name) ? [] : [index])));
  const rewrite = new Map<number, Rewrite>();
  for (const [index, entry] of entries.entries()) {
    const formerly = entry.formerly.filter((old) => !names.has(old));
    if (remove.has(index) || formerly.length === entry.formerly.length) continue;
    rewrite.set(index, {
      text: writtenEntry({ name: entry.name, formerly }),
      without: formerly.length === 0 ? entry.rename : undefined,
    });
    for (const old of entry.formerly.filter((name) => names.has(name))) {
      notes.push(
        `the rename of the ${kind} “${old}” to “${entry.name}” is removed, because the account contains both and the file lists both now`,
      );
    }
  }
  if (remove.size + rewrite.size + added.length === 0) return yaml.text;
  const add = placed(added, entries);
  return editList(yaml, [key], {
    remove,
    rewrite,
    add,
    written: (index) => writtenEntry(entries[index] ?? { name: '', formerly: [] }),
  });
}

/** The positions of new names: in order if the list is sorted, otherwise at the end. */
function placed(names: readonly string[], entries: readonly WrittenEntry[]): NewItem[] {
  const isSorted = entries.every(
    ({ name }, index) => index === 0 || compareCodePoints(entries[index - 1]?.name ?? '', name) < 0,
  );
  return names.map((name) => {
    const next = isSorted ? entries.findIndex((entry) => compareCodePoints(entry.name, name) > 0) : -1;
    return { before: next === -1 ? entries.length : next, text: yamlText(name) };
  });
}

function withPin(yaml: EditableYaml, accountId: string | null): string {
  if (accountId === null || pairAt(yaml, ['accountId']) !== undefined) return yaml.text;
  const address = pairAt(yaml, ['region']) === undefined ? 'baseUrl' : 'region';
  return addLines(yaml, [`accountId: ${yamlQuoted(accountId)}`], address);
}

function writable(names: readonly string[]): readonly string[] {
  return sortedOnce(names.map(nameKey).filter((name) => nameProblem(name) === undefined));
}

function sortedOnce(names: readonly string[]): readonly string[] {
  return [...new Set(names)].toSorted(compareCodePoints);
}

function writtenEntry({ name, formerly }: WrittenEntry): string {
  return formerly.length === 0
    ? yamlText(name)
    : `{ name: ${yamlText(name)}, formerly: [${formerly.map(yamlText).join(', ')}] }`;
}

function entryOf(item: Node): WrittenEntry {
  if (!isMap(item)) return { name: nameKey(textOf(item)), formerly: [] };
  const formerly: unknown = item.get('formerly', true);
  return {
    name: nameKey(textOf(item, 'name')),
    formerly: isSeq(formerly) ? (formerly.items as Node[]).map((old) => nameKey(textOf(old))) : [],
    // A comment behind braces is about the complete entry.
    rename:
      item.flow === true
        ? undefined
        : (item.items.find(({ key }) => textOf(key) === 'formerly') as Rewrite['without']),
  };
}
