// An account's file with what the account contains now in place of its skills and roles, for `dump`. Everything else of
// the file stays; what cannot stay beside the new lists is reported.
import path from 'node:path';
import { type Node, isMap, isSeq } from 'yaml';
import { type Kind, KINDS, type Policy } from '../core/catalog.ts';
import { compareCodePoints, nameKey } from '../core/names.ts';
import { yamlQuoted, yamlText } from '../core/yaml-text.ts';
import { unfoldedPolicy, withProtection } from './dump-protection.ts';
import {
  type EditableYaml,
  type NewItem,
  addLines,
  editable,
  editList,
  itemsAt,
  pairAt,
  textOf,
  textsAt,
} from '../yaml/edit-yaml.ts';
import { LIST_KEYS, type WrittenLists } from './name-list.ts';
import { nameProblem } from '../core/name-rules.ts';

/** What the account contains and what is known of its configuration. */
export interface AccountContents {
  /** Written as the pin of a file that has none; null when nothing that was listed carries one. */
  readonly accountId: string | null;
  /** Names as the service shows them. */
  readonly names: Readonly<Record<Kind, readonly string[]>>;
  /** The policy of the account, that of `defaults` included. */
  readonly policy: Pick<Policy, 'protect' | 'duplicates'>;
}

/** The lists of a catalog by its absolute path. */
export type ReadCatalog = (file: string) => WrittenLists;

export interface DumpedFile {
  readonly text: string;
  /** What changed besides the two lists, and why, one sentence each. */
  readonly notes: readonly string[];
}

interface WrittenEntry {
  readonly name: string;
  readonly formerly: readonly string[];
}

/** What the lists of the new file are made of. */
interface Wanted {
  readonly kinds: readonly Kind[];
  /** Names that the file may contain, NFC, each once, by code points. */
  readonly names: Readonly<Record<Kind, readonly string[]>>;
  /** The names that remain in `extends`. */
  readonly inherited: Readonly<Record<Kind, ReadonlySet<string>>>;
}

/**
 * The text of the account's file (`file`, which the loader accepted) that asks for what the account contains now. A kind
 * that the file and its catalogs leave out stays left out, unless they leave out both. A catalog stays in `extends` while
 * the account contains all of it. A plan of the new text right after it is empty.
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

interface Catalog {
  readonly index: number;
  readonly written: string;
  readonly lists: WrittenLists;
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
      `the file leaves ${key} out, and so does this one; to manage them, add \`${key}: []\` and dump again`,
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
        `several entries are the ${kind} “${name}”; by policy.duplicates, a plan deletes those of them that nobody has`,
    );
  });
}

function namesOf(catalogs: readonly Catalog[], kind: Kind): ReadonlySet<string> {
  return new Set(catalogs.flatMap(({ lists }) => (lists[kind] ?? []).map(({ name }) => name)));
}

/** Whether a catalog asks for something that the account does not contain, or renames what it contains. */
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
        `${written} is no longer extended: ${why}; what it shares with the account is in the file now`,
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

/** An approval to delete what the file asks for would be an error. */
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
    notes.push(`the approval to delete the ${kind} “${name}” is removed: the file asks for it now`);
  }
  if (remove.size === 0) return yaml.text;
  return editList(yaml, ['approvedDeletes'], {
    remove,
    add: [],
    written(index) {
      const { kind = '', name = '', expires = '' } = approvals[index] ?? {};
      return `{ kind: ${kind}, name: ${yamlText(name)}${expires === '' ? '' : `, expires: ${expires}`} }`;
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
  const rewrite = new Map<number, string>();
  for (const [index, entry] of entries.entries()) {
    const formerly = entry.formerly.filter((old) => !names.has(old));
    if (remove.has(index) || formerly.length === entry.formerly.length) continue;
    rewrite.set(index, writtenEntry({ name: entry.name, formerly }));
    for (const old of entry.formerly.filter((name) => names.has(name))) {
      notes.push(
        `the rename of the ${kind} “${old}” to “${entry.name}” is removed: the account contains both, and the file asks for both now`,
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

/** Where new names are written: in their places of a sorted list, else at the end. */
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
  };
}
