// Generates the account file of `dump`: replaces its lists of skills and roles by the contents of the account. The rest
// of the file stays; parts that conflict with the new lists are removed and reported.
import path from 'node:path';
import { type Node, Pair, Scalar, YAMLMap, isMap } from 'yaml';
import { type Entry, type Kind, KINDS, LIST_KEYS, type Policy } from '../core/catalog.ts';
import { nameProblem } from '../core/name-rules.ts';
import { compareCodePoints, globMatcher, nameKey } from '../core/names.ts';
import {
  addList,
  editable,
  insertItem,
  insertPair,
  listAt,
  removeItems,
  textNode,
  textOf,
} from './yaml/editable-document.ts';
import { withoutNames } from './merge-lists.ts';
import type { WrittenLists } from './name-list.ts';

/** An entry as the service lists it. */
type Named = Pick<Entry, 'name'>;

/** The contents of the account, and the settings that decide how they are written. */
export interface AccountContents {
  /** Becomes `accountId` of a file that has none; null when no listed object has one. */
  readonly remoteAccountId: string | null;
  readonly observed: Readonly<Record<Kind, readonly Named[]>>;
  /** The policy of the account, merged with `defaults`. */
  readonly policy: Pick<Policy, 'protect'>;
}

const PROTECT_COMMENT = [
  ' A file must not contain these names: they are empty, or have control characters, very many combining marks, or',
  ' white space at the start or end. The entries are kept until somebody renames them in the service.',
].join('\n');

/** The lists of a catalog by its absolute path. */
export type ReadCatalog = (file: string) => WrittenLists;

export interface DumpedFile {
  readonly text: string;
  /** One sentence for each change outside of the two lists, with its reason. */
  readonly notes: readonly string[];
}

type Root = YAMLMap<Node, Node | null>;

/** The input for the lists of the new file. */
interface Wanted {
  readonly kinds: readonly Kind[];
  /** Names that a file may contain: NFC, distinct, sorted by code points. */
  readonly names: Readonly<Record<Kind, readonly string[]>>;
  /** The names that the catalogs in `extends` still provide. */
  readonly inherited: Readonly<Record<Kind, ReadonlySet<string>>>;
}

interface Catalog {
  /** Its item in `extends`. */
  readonly item: Node;
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
  const document = editable(text);
  const { root } = document;
  const catalogs = (listAt(root, 'extends')?.items ?? []).map((item): Catalog => {
    const written = isMap(item) ? textOf(item, 'file') : textOf(item);
    const { lists } = withoutNames(readCatalog(path.resolve(path.dirname(file), written)), exceptOf(item));
    return { item, written, lists };
  });
  const kinds = dumpedKinds(root, catalogs);
  const names = {
    skill: kinds.includes('skill') ? writable(contents.observed.skill) : [],
    role: kinds.includes('role') ? writable(contents.observed.role) : [],
  };
  const dropped = catalogs.filter((catalog) => isDropped(catalog, kinds, names, notes));
  const kept = catalogs.filter((catalog) => !dropped.includes(catalog));
  const wanted: Wanted = {
    kinds,
    names,
    inherited: { skill: namesOf(kept, 'skill'), role: namesOf(kept, 'role') },
  };
  const extended = listAt(root, 'extends');
  if (extended !== undefined) removeItems(extended, (item) => dropped.some((each) => each.item === item));
  removeAllowances(root, wanted, notes);
  for (const kind of kinds) updateList(root, kind, wanted, notes);
  protectUnwritable(root, kinds, contents);
  addPin(root, contents.remoteAccountId);
  return { text: document.print(), notes };
}

/** What an item of `extends` leaves out; the loader has checked its form. */
function exceptOf(item: Node): Parameters<typeof withoutNames>[1] {
  const except = isMap(item) ? item.get('except', true) : undefined;
  if (!isMap(except)) return {};
  const globs = (key: string): string[] => (listAt(except, key)?.items ?? []).map((glob) => textOf(glob));
  return { skills: globs('skills'), roles: globs('roles') };
}

function dumpedKinds(root: Root, catalogs: readonly Catalog[]): readonly Kind[] {
  const managed = KINDS.filter(
    (kind) => root.has(LIST_KEYS[kind]) || catalogs.some(({ lists }) => lists[kind] !== undefined),
  );
  return managed.length === 0 ? KINDS : managed;
}

function namesOf(catalogs: readonly Catalog[], kind: Kind): ReadonlySet<string> {
  const entries = catalogs.flatMap(({ lists }) => lists[kind] ?? []);
  return new Set(entries.filter(({ absent }) => !absent).map(({ name }) => name));
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
    const other = lists[kind]?.find(
      ({ name, formerly, absent }) =>
        contained.has(name) === absent || formerly.some((former) => contained.has(former.name)),
    );
    if (other === undefined) continue;
    const why = other.absent
      ? 'is in the account, and it wants it absent'
      : 'is not in the account, or renames one that is';
    notes.push(
      `${written} is removed from \`extends\`: its ${kind} “${other.name}” ${why}; the entries that it shares with the account are in this file now`,
    );
    return true;
  }
  return false;
}

/** Removes the lines of `allowedDeletes` for entries that the file lists now, which would be errors. */
function removeAllowances(root: Root, { kinds, names }: Wanted, notes: string[]): void {
  const allowances = listAt(root, 'allowedDeletes');
  if (allowances === undefined) return;
  removeItems(allowances, (item) => {
    const kind = textOf(item, 'kind');
    const name = nameKey(textOf(item, 'name'));
    const isListed = kinds.some((dumped) => dumped === kind && names[dumped].includes(name));
    if (isListed) {
      notes.push(
        `the line of \`allowedDeletes\` for the ${kind} “${name}” is removed, because the file lists it now`,
      );
    }
    return isListed;
  });
}

function updateList(root: Root, kind: Kind, { names, inherited }: Wanted, notes: string[]): void {
  const key = LIST_KEYS[kind];
  const contained = new Set(names[kind]);
  const written = listAt(root, key);
  const own = new Set(written?.items.filter((item) => !isAbsent(item)).map(entryName));
  const added = names[kind].filter((name) => !own.has(name) && !inherited[kind].has(name));
  if (written === undefined && added.length === 0 && inherited[kind].size > 0) return;
  const list = written ?? addList(root, key);
  const isSorted = list.items.every(
    (item, index, items) =>
      index === 0 || compareCodePoints(entryName(items[index - 1]), entryName(item)) < 0,
  );
  // Also of the entries that are removed next, so that each rename that ends is reported.
  for (const item of list.items) removeRenames(item, kind, contained, notes);
  removeItems(list, (item) => {
    const name = entryName(item);
    if (!isAbsent(item)) return !contained.has(name);
    if (contained.has(name)) {
      notes.push(
        `the line that wants the ${kind} “${name}” absent is removed, because the account contains it`,
      );
    }
    return contained.has(name);
  });
  let next = isSorted ? 0 : list.items.length;
  // Both are sorted, so each name is added behind the one before it.
  for (const name of added) {
    while (next < list.items.length && compareCodePoints(entryName(list.items[next]), name) < 0) next += 1;
    insertItem(list, next, textNode(name));
  }
}

/** Removes the former names that the account still contains, which would be errors. */
function removeRenames(item: Node, kind: Kind, contained: ReadonlySet<string>, notes: string[]): void {
  const formerly = isMap(item) ? listAt(item, 'formerly') : undefined;
  if (!isMap(item) || formerly === undefined) return;
  const before = formerly.items.length;
  removeItems(formerly, (former) => {
    const old = nameKey(textOf(former));
    if (!contained.has(old)) return false;
    notes.push(
      `the rename of the ${kind} “${old}” to “${entryName(item)}” is removed, because the account contains “${old}” and the file lists it now`,
    );
    return true;
  });
  if (before > 0 && formerly.items.length === 0) item.delete('formerly');
}

/** Adds a pattern to `policy.protect` for each name of a managed kind that a file must not contain. */
function protectUnwritable(root: Root, kinds: readonly Kind[], { observed, policy }: AccountContents): void {
  const matchers = policy.protect.map(globMatcher);
  const unprotected = kinds
    .flatMap((kind) => observed[kind].map(({ name }) => nameKey(name)))
    .filter((name) => nameProblem(name) !== undefined && !matchers.some((matches) => matches(name)));
  if (unprotected.length === 0) return;
  const globs = sortedOnce(unprotected).map((name) => textNode(escapeGlob(name)));
  if (globs[0] !== undefined) globs[0].commentBefore = PROTECT_COMMENT;
  const written: unknown = root.get('policy', true);
  const map = isMap(written) ? written : new YAMLMap();
  if (map !== written) root.set(new Scalar('policy'), map);
  const protect = listAt(map, 'protect') ?? addList(map, 'protect');
  // A comment needs lines of its own.
  map.flow = false;
  protect.flow = false;
  for (const glob of globs) insertItem(protect, protect.items.length, glob);
}

/** The glob that matches `name`, and nothing else unless the name has too many combining marks for a glob. */
function escapeGlob(name: string): string {
  return name.replace(/[\\*?]/gu, '\\$&').replace(/\p{M}{31,}/gu, '*');
}

function addPin(root: Root, accountId: string | null): void {
  if (accountId === null || root.has('accountId')) return;
  const id = textNode(accountId);
  id.type = Scalar.QUOTE_DOUBLE;
  insertPair(
    root,
    root.has('region') ? 'region' : 'baseUrl',
    new Pair<Node, Node>(new Scalar('accountId'), id),
  );
}

function writable(entries: readonly Named[]): readonly string[] {
  const names = entries.map(({ name }) => nameKey(name));
  return sortedOnce(names.filter((name) => nameProblem(name) === undefined));
}

function sortedOnce(names: readonly string[]): readonly string[] {
  return [...new Set(names)].toSorted(compareCodePoints);
}

function isAbsent(item: Node): boolean {
  return isMap(item) && item.has('absent');
}

function entryName(item: Node | undefined): string {
  return nameKey(isMap(item) ? textOf(item, 'name') : textOf(item));
}
