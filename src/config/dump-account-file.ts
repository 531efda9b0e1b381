// Generates the account file of `dump`: replaces its lists of skills and roles by the contents of the account, and checks
// it with the loader. The rest of the file stays; parts that conflict with the new lists are removed and reported.
import path from 'node:path';
import { type Node, Pair, Scalar, YAMLMap, isMap } from 'yaml';
import { type Entry, type Kind, KINDS, LIST_KEYS, type Policy } from '../core/catalog.ts';
import { ConfigError, type ConfigIssue, errorsOf } from '../core/errors.ts';
import { nameProblem } from '../core/name-rules.ts';
import { compareCodePoints, globMatcher, nameKey } from '../core/names.ts';
import type { CheckoutPlace } from '../core/ports/repository.ts';
import { accountSettingsSchema } from './account-schema.ts';
import { type ConfigurationFiles, readText } from './configuration-files.ts';
import { filesOnDisk } from './files-on-disk.ts';
import { loadConfiguration } from './load-configuration.ts';
import { openCatalogs, withoutNames } from './merge-lists.ts';
import type { WrittenLists } from './name-list.ts';
import { validKeys } from './schema-issues.ts';
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

interface DumpTarget {
  readonly configFile: string;
  readonly account: { readonly name: string; readonly file: string };
  readonly checkout?: CheckoutPlace | undefined;
  /** The source of the files; the disk by default. */
  readonly files?: ConfigurationFiles;
}

/** An entry as the service lists it. */
type Named = Pick<Entry, 'name'>;

/** The contents of the account, and the settings that decide how they are written. */
interface AccountContents {
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

interface DumpedAccount {
  /** The text of the file before the dump. */
  readonly before: string;
  readonly text: string;
  /** One sentence for each change outside of the two lists, with its reason. */
  readonly notes: readonly string[];
  /** The errors that the loader finds in the new text. */
  readonly errors: readonly ConfigIssue[];
}

type Root = YAMLMap<Node, Node | null>;

/** Of each kind that is dumped the names that a file may contain: NFC, sorted by code points. */
type Names = ReadonlyMap<Kind, ReadonlySet<string>>;

/** An item of `extends`. */
interface Catalog {
  readonly written: string;
  readonly lists: WrittenLists;
}

/**
 * Generates the text of an account file that describes the current contents of the account. A kind that the file and its
 * catalogs omit stays omitted, unless they omit both. A catalog stays in `extends` if the account contains all its names.
 * A plan with the new text is empty. Throws ConfigError when the file cannot be read.
 */
export async function dumpAccount(target: DumpTarget, contents: AccountContents): Promise<DumpedAccount> {
  const { configFile, account, checkout, files = filesOnDisk(checkout) } = target;
  const read = files.read(account.file);
  if ('issue' in read) throw new ConfigError([read.issue]);
  const before = read.source.text;
  const notes: string[] = [];
  const document = editable(before);
  const known = openCatalogs(files, '');
  const extended = validKeys(accountSettingsSchema, document.root.toJSON()).extends ?? [];
  const catalogs = extended.map(({ file: written, except }): Catalog => {
    const { lists } = known.read(path.resolve(path.dirname(account.file), written));
    return { written, lists: withoutNames(lists, except).lists };
  });
  update(document.root, catalogs, contents, notes);
  const text = document.print();
  const dumped = readText(read.source, text);
  const changed = { ...files, read: (file: string) => (file === account.file ? dumped : files.read(file)) };
  const { accounts } = await loadConfiguration(configFile, { files: changed, checkout });
  const own = accounts.filter(({ file }) => file === account.file);
  return { before, text, notes, errors: own.flatMap(({ issues }) => errorsOf(issues)) };
}

function update(root: Root, catalogs: readonly Catalog[], contents: AccountContents, notes: string[]): void {
  const names: Names = new Map(
    dumpedKinds(root, catalogs).map((kind) => [kind, writable(contents.observed[kind])]),
  );
  const reasons = catalogs.map((catalog) => dropReason(catalog, names));
  const kept = catalogs.filter((_, index) => reasons[index] === undefined);
  notes.push(...reasons.flatMap((reason) => reason ?? []));
  const extended = listAt(root, 'extends');
  if (extended !== undefined) removeItems(extended, (_, index) => reasons[index] !== undefined);
  removeAllowances(root, names, notes);
  for (const [kind, contained] of names)
    updateList(root, kind, { contained, inherited: namesOf(kept, kind) }, notes);
  protectUnwritable(root, [...names.keys()], contents);
  addPin(root, contents.remoteAccountId);
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

/** Why a catalog is removed: it lists an entry that the account does not contain, or renames one that it contains. */
function dropReason({ written, lists }: Catalog, names: Names): string | undefined {
  for (const [kind, contained] of names) {
    const other = lists[kind]?.find(
      ({ name, formerly, absent }) =>
        contained.has(name) === absent || formerly.some((former) => contained.has(former.name)),
    );
    if (other === undefined) continue;
    const why = other.absent
      ? 'is in the account, and it wants it absent'
      : 'is not in the account, or renames one that is';
    return `${written} is removed from \`extends\`: its ${kind} “${other.name}” ${why}; the entries that it shares with the account are in this file now`;
  }
  return undefined;
}

/** Removes the lines of `allowedDeletes` for entries that the file lists now, which would be errors. */
function removeAllowances(root: Root, names: Names, notes: string[]): void {
  const allowances = listAt(root, 'allowedDeletes');
  if (allowances === undefined) return;
  removeItems(allowances, (item) => {
    const kind = textOf(item, 'kind');
    const name = nameKey(textOf(item, 'name'));
    const isListed = KINDS.some((dumped) => dumped === kind && names.get(dumped)?.has(name) === true);
    if (isListed) {
      notes.push(
        `the line of \`allowedDeletes\` for the ${kind} “${name}” is removed, because the file lists it now`,
      );
    }
    return isListed;
  });
}

/** `inherited`: the names that the catalogs in `extends` still provide. */
function updateList(
  root: Root,
  kind: Kind,
  { contained, inherited }: Readonly<Record<'contained' | 'inherited', ReadonlySet<string>>>,
  notes: string[],
): void {
  const key = LIST_KEYS[kind];
  const written = listAt(root, key);
  const own = new Set(written?.items.filter((item) => !isAbsent(item)).map(entryName));
  const added = [...contained].filter((name) => !own.has(name) && !inherited.has(name));
  if (written === undefined && added.length === 0 && inherited.size > 0) return;
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
  const globs = [...new Set(unprotected)]
    .toSorted(compareCodePoints)
    .map((name) => textNode(escapeGlob(name)));
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

function writable(entries: readonly Named[]): ReadonlySet<string> {
  const names = entries.map(({ name }) => nameKey(name));
  return new Set(names.filter((name) => nameProblem(name) === undefined).toSorted(compareCodePoints));
}

function isAbsent(item: Node): boolean {
  return isMap(item) && item.has('absent');
}

function entryName(item: Node | undefined): string {
  return nameKey(isMap(item) ? textOf(item, 'name') : textOf(item));
}
