// Reads the lists of names of a file directly from its YAML nodes. A schema would be slow for ten thousand names, and
// only the source text shows a name that YAML did not read as text.
import { type Node, type YAMLMap, isMap, isScalar, isSeq } from 'yaml';
import { type DesiredEntry, KINDS, type Kind, LIST_KEYS } from '../core/catalog.ts';
import { MOST_ENTRIES } from '../core/limits.ts';
import type { ConfigIssue } from '../core/errors.ts';
import { nameProblem, oddCharacters, referenceProblem } from '../core/name-rules.ts';
import { nameKey } from '../core/names.ts';
import { nearestWord } from '../core/did-you-mean.ts';
import { isMistyped, keyText, locate, type Spot, type YamlFile, quoted } from './yaml/yaml-file.ts';
import { detached } from './yaml/source-text.ts';

/**
 * A name with its position. It keeps no node, since the catalogs would then keep all their nodes until they are merged.
 */
export interface WrittenName {
  /** NFC. */
  readonly name: string;
  /** The offset in the file. */
  readonly at: number;
}

export interface WrittenEntry extends WrittenName {
  readonly formerly: readonly WrittenName[];
  /** Whether the account must not have the entry. */
  readonly absent: boolean;
  /** The desired entry without the other files' former names. All accounts that extend a catalog share this object. */
  readonly desired: DesiredEntry;
  /** Makes an issue in the file of the entry. */
  readonly issue: YamlFile['issue'];
}

/** The keys of an entry that is more than a name. */
const ENTRY_KEYS: readonly string[] = ['name', 'formerly', 'absent'];

/** The lists of a file; a kind that the file omits is undefined. */
export type WrittenLists = { readonly [K in Kind]?: readonly WrittenEntry[] };

/** Reads both lists of `file`, with at most MOST_ENTRIES names. An invalid list contains the entries that could be read. */
export function readNameLists(file: YamlFile): WrittenLists {
  const reader = new NameListReader(file);
  const lists: { [K in Kind]?: readonly WrittenEntry[] } = {};
  for (const kind of KINDS) {
    const entries = reader.readKind(kind);
    if (entries !== undefined) lists[kind] = entries;
  }
  return lists;
}

/** Counts the names over both lists of one file. */
class NameListReader {
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
          ? `${label} has no value: write \`${label}: []\` for an empty list, or remove the line to leave all ${label} unchanged`
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
      if (!ENTRY_KEYS.includes(keyText(key))) this.#report(key as Node, unknownKey(keyText(key)));
    }
    const written = node.get('name', true) as Node | undefined;
    if (written === undefined) {
      if (node.items.every(({ key }) => ENTRY_KEYS.includes(keyText(key)))) {
        this.#report(node, 'an entry needs a `name`; add it');
      }
      return undefined;
    }
    const name = this.#readName(written, '`name`');
    const formerly = node.has('formerly') ? this.#readFormerly(node.get('formerly', true) as Node, name) : [];
    const absent = this.#readAbsent(node, formerly.length > 0);
    return name === undefined ? undefined : this.#entry(name, formerly, absent);
  }

  #readAbsent(entry: YAMLMap, hasFormerNames: boolean): boolean {
    if (!entry.has('absent')) return false;
    const written = entry.get('absent', true) as Node;
    const node = this.#file.resolve(written);
    if (!isScalar(node) || node.value !== true) {
      this.#report(written, '`absent` must be true; to ask for the entry, remove `absent`');
    } else if (hasFormerNames) {
      this.#report(
        written,
        'an entry that must be absent has no former names; remove `formerly` or `absent`',
      );
    }
    return true;
  }

  #entry({ name, at }: WrittenName, formerly: readonly WrittenName[], absent = false): WrittenEntry {
    const desired = { name: detached(name), formerly: formerly.map((old) => old.name) };
    return { name: desired.name, at, formerly, absent, desired, issue: this.#file.issue };
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
          `${quoted(former.name)} is the entry's own name; remove it from \`formerly\``,
        );
      } else if (names.has(former.name)) {
        this.#report(
          former.at,
          `duplicate name ${quoted(former.name)} in \`formerly\`; remove one of the two`,
        );
      } else names.set(former.name, { ...former, name: detached(former.name) });
    }
    return [...names.values()];
  }

  #readName(spot: Node, what: string, problemOf = nameProblem): WrittenName | undefined {
    this.#names += 1;
    if (this.#names > MOST_ENTRIES) {
      if (this.#names === MOST_ENTRIES + 1)
        this.#report(spot, `the file has more than ${MOST_ENTRIES} names; take some out`);
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
    // A name that exists in the service is not checked for odd characters, since it can't be changed here.
    const odd = problemOf === nameProblem ? oddCharacters(node.value) : undefined;
    if (odd !== undefined) {
      const message = `the name ${quoted(node.value)} has invisible or unusual characters (${odd}); remove them unless they are intended`;
      this.#report(spot, message, 'warning');
    }
    return { name: nameKey(node.value), at: spot.range?.[0] ?? 0 };
  }

  #duplicateMessage(kind: Kind, name: string, earlier: number): string {
    const { line } = this.#file.issue(earlier, '');
    return `duplicate ${kind} ${quoted(name)}: line ${line} has it too (names are compared after Unicode NFC); remove one of the two`;
  }

  #report(spot: Spot, message: string, severity: ConfigIssue['severity'] = 'error'): void {
    this.#file.issues.push(this.#file.issue(spot, message, severity));
  }
}

function wrongType(node: Node | undefined, what: string): string {
  if (isMistyped(node)) return `YAML does not read this name as text; quote it: ${quoted(node.source)}`;
  if (node === undefined || isScalar(node)) return `${what} is empty; write a name or remove it`;
  return `${what} must be a name; if it is one, quote it`;
}

function unknownKey(key: string): string {
  const near = nearestWord(key, ENTRY_KEYS);
  return near === undefined
    ? `unknown key ${quoted(key)} in an entry, which has only ${ENTRY_KEYS.join(', ')}; if the line is a name with a colon, quote all of it`
    : `unknown key ${quoted(key)}; did you mean ${quoted(near)}?`;
}
