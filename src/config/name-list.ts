// The lists of names of a file, read off its nodes: ten thousand names need no detour through a schema, and what YAML
// made of a name can only be told from its source (contract, section 2).
import { type Node, isMap, isScalar, isSeq } from 'yaml';
import { type DesiredEntry, KINDS, type Kind } from '../core/catalog.ts';
import type { ConfigIssue } from '../core/errors.ts';
import { nameProblem, oddCharacters, referenceProblem } from '../core/name-rules.ts';
import { nameKey } from '../core/names.ts';
import { nearestWord } from '../core/did-you-mean.ts';
import { isMistyped, keyText, locate } from '../yaml/node-lookup.ts';
import { type Spot, type YamlFile, quoted } from '../yaml/yaml-file.ts';
import { detached } from '../yaml/source-text.ts';

/** The key of a file that lists a kind's names. */
export const LIST_KEYS = { skill: 'skills', role: 'roles' } as const satisfies Record<Kind, string>;

/** A name as written, with where. It keeps no node: an account's catalogs would keep all of theirs until they are merged. */
export interface WrittenName {
  /** NFC. */
  readonly name: string;
  /** The offset in its file. */
  readonly at: number;
}

export interface WrittenEntry extends WrittenName {
  readonly formerly: readonly WrittenName[];
  /** What this asks for by itself: one object for all the accounts that a catalog's entry becomes part of. */
  readonly desired: DesiredEntry;
  /** Of the file that the entry stands in. */
  readonly issue: YamlFile['issue'];
}

/** A file's lists; a kind that the file leaves out is undefined. */
export type WrittenLists = { readonly [K in Kind]?: readonly WrittenEntry[] };

/** One for all entries, most of which never had another name. */
const NO_NAMES: readonly string[] = [];
/** Of one file, and of one account with all that it extends. */
export const MAX_NAMES = 100_000;

/** Both lists of `file`. A kind whose list is broken is listed with what could be read. */
export function readNameLists(file: YamlFile): {
  readonly lists: WrittenLists;
  readonly issues: readonly ConfigIssue[];
} {
  const reader = new NameListReader(file);
  const lists: { [K in Kind]?: readonly WrittenEntry[] } = {};
  for (const kind of KINDS) {
    const entries = reader.readKind(kind);
    if (entries !== undefined) lists[kind] = entries;
  }
  return { lists, issues: reader.issues };
}

/** Carries the issues and the count of names over both lists of one file. */
class NameListReader {
  readonly issues: ConfigIssue[] = [];
  readonly #file: YamlFile;
  #names = 0;

  constructor(file: YamlFile) {
    this.#file = file;
  }

  readKind(kind: Kind): readonly WrittenEntry[] | undefined {
    const label = LIST_KEYS[kind];
    const { key, node: written } = locate(this.#file, [label]);
    if (key === undefined) return undefined;
    const list = this.#file.resolve(written);
    if (!isSeq(list)) {
      const empty = list === undefined || (isScalar(list) && list.value === null);
      this.#report(
        empty ? key : list,
        empty
          ? `${label} has no value: write \`${label}: []\` to ask for none, or take the line out to leave ${label} alone`
          : `${label} must be a list: [a, b], or lines that start with -`,
      );
      return [];
    }
    const entries: WrittenEntry[] = [];
    const first = new Map<string, number>();
    for (const item of list.items) {
      const entry = this.#readEntry(item as Node);
      if (entry === undefined) continue;
      const earlier = first.get(entry.name);
      if (earlier === undefined) first.set(entry.name, entry.at);
      else this.#report(entry.at, this.#duplicateMessage(kind, entry.name, earlier));
      entries.push(entry);
    }
    return entries;
  }

  #readEntry(item: Node): WrittenEntry | undefined {
    const node = this.#file.resolve(item);
    if (!isMap(node)) {
      const name = this.#readName(item, 'an item of this list');
      return name === undefined ? undefined : this.#entry(name, []);
    }
    for (const { key } of node.items) {
      if (keyText(key) !== 'name' && keyText(key) !== 'formerly')
        this.#report(key as Node, unknownKey(keyText(key)));
    }
    const written = node.get('name', true) as Node | undefined;
    if (written === undefined) {
      if (node.items.every(({ key }) => keyText(key) === 'formerly')) {
        this.#report(node, 'an entry needs a `name`; add it');
      }
      return undefined;
    }
    const name = this.#readName(written, '`name`');
    const formerly = node.has('formerly') ? this.#readFormerly(node.get('formerly', true) as Node, name) : [];
    return name === undefined ? undefined : this.#entry(name, formerly);
  }

  #entry({ name, at }: WrittenName, formerly: readonly WrittenName[]): WrittenEntry {
    const desired = { name, formerly: formerly.length === 0 ? NO_NAMES : formerly.map((old) => old.name) };
    return { name, at, formerly, desired, issue: this.#file.issue };
  }

  #readFormerly(written: Node, name: WrittenName | undefined): WrittenName[] {
    const list = this.#file.resolve(written);
    if (!isSeq(list)) {
      this.#report(written, '`formerly` must be a list of names: [Old name]');
      return [];
    }
    const names = new Map<string, WrittenName>();
    for (const item of list.items) {
      const former = this.#readName(item as Node, 'an item of `formerly`', referenceProblem);
      if (former === undefined) continue;
      if (former.name === name?.name) {
        this.#report(
          former.at,
          `${quoted(former.name)} is the entry's own name; take it out of \`formerly\``,
        );
      } else if (names.has(former.name)) {
        this.#report(former.at, `duplicate name ${quoted(former.name)} in \`formerly\`; keep one of them`);
      } else names.set(former.name, former);
    }
    return [...names.values()];
  }

  #readName(spot: Node, what: string, problemOf = nameProblem): WrittenName | undefined {
    this.#names += 1;
    if (this.#names > MAX_NAMES) {
      if (this.#names === MAX_NAMES + 1)
        this.#report(spot, `the file holds more than ${MAX_NAMES} names; split it`);
      return undefined;
    }
    const node = this.#file.resolve(spot);
    if (!isScalar(node) || typeof node.value !== 'string') {
      this.#report(spot, wrongType(node, what));
      return undefined;
    }
    const problem = problemOf(node.value);
    if (problem !== undefined) {
      this.#report(spot, problem);
      return undefined;
    }
    // An existing name is what it is.
    const odd = problemOf === nameProblem ? oddCharacters(node.value) : undefined;
    if (odd !== undefined) {
      const message = `the name ${quoted(node.value)} has invisible or unusual characters (${odd}); remove them unless they are meant`;
      this.#report(spot, message, 'warning');
    }
    return { name: detached(nameKey(node.value)), at: spot.range?.[0] ?? 0 };
  }

  #duplicateMessage(kind: Kind, name: string, earlier: number): string {
    const { line } = this.#file.issue(earlier, '');
    return `duplicate ${kind} ${quoted(name)}: line ${line} names it too (names are compared after Unicode NFC); keep one`;
  }

  #report(spot: Spot, message: string, severity: ConfigIssue['severity'] = 'error'): void {
    this.issues.push(this.#file.issue(spot, message, severity));
  }
}

function wrongType(node: Node | undefined, what: string): string {
  if (isMistyped(node)) return `YAML does not read this name as text; quote it: ${quoted(node.source)}`;
  if (node === undefined || isScalar(node)) return `${what} is empty; write a name or take it out`;
  return `${what} must be a name; if it is one, quote it`;
}

function unknownKey(key: string): string {
  const near = nearestWord(key, ['name', 'formerly']);
  return near === undefined
    ? `unknown key ${quoted(key)} in an entry, which has name and formerly; if the line is a name with a colon, quote all of it`
    : `unknown key ${quoted(key)}; did you mean ${quoted(near)}?`;
}
