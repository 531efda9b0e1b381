// Parses a simple subset of YAML in one pass: block mappings, lists, plain and quoted text in one line, comments. Ten
// thousand account files take seconds with the complete parser, and most of them contain nothing else.
import { Pair, Scalar, YAMLMap, YAMLSeq } from 'yaml';

type SimpleNode = Scalar | YAMLMap | YAMLSeq;

/** No white space but spaces and line feeds, no control characters, no surrogates and no byte order mark. */
const UNUSUAL = /[^\n -~\u00A0-\u2027\u202A-\uD7FF\uE000-\uFEFE\uFF00-\uFFFD]/u;
const KEY = /[A-Za-z][A-Za-z0-9_-]{0,99}(?=:(?:[ \n]|$))/uy;
/** The start of plain text that has no meaning in YAML. */
const TEXT_START = /[A-Za-z0-9_(/\u00A0-\uFFFD]|\.{1,2}\/|\.[A-Za-z]/uy;
/** Text in a flow collection, where more characters have a meaning than elsewhere. */
const FLOW_TEXT = /(?:\.{0,2}\/|\.(?=[A-Za-z])|[A-Za-z0-9_(])[A-Za-z0-9_./+()&\u00C0-\u024F -]*/uy;
/** What may follow a value in its line. */
const LINE_REST = /(?: +#[^\n]*| *)(?:\n|$)/uy;
const SPACES = / */uy;
const WHOLE_NUMBER = /^(?:0|[1-9][0-9]{0,8})$/u;
/** All that YAML reads as a number, null or a boolean, and some texts besides. */
const NOT_TEXT = /^(?:[0-9.]+(?:[eE][-+]?[0-9]+)?|0[ox].*|\.(?:inf|nan)|true|false|null)$/iu;
const MAX_DEPTH = 10;

const NEWLINE = 0x0a;
const SPACE = 0x20;
const DOUBLE_QUOTE = 0x22;
const HASH = 0x23;
const QUOTE = 0x27;
const DASH = 0x2d;
const OPENING_BRACKET = 0x5b;
const OPENING_BRACE = 0x7b;

/**
 * The root mapping with the same values and start positions as those of the complete parser. Undefined if the text has
 * anything that is not in the subset: errors, anchors, aliases, tags, duplicate keys, several lines of text, names that
 * are not text. Ends of block collections are not exact.
 */
export function parseSimpleYaml(text: string): YAMLMap | undefined {
  return UNUSUAL.test(text) ? undefined : new SimpleParser(text).root();
}

/** Each method returns undefined when the text is not in the subset, and the parse then ends. */
class SimpleParser {
  readonly #text: string;
  /** The next character to read. */
  #at = 0;
  /** Its column at the start of a block node; -1 at the end of the text. */
  #column = -1;

  constructor(text: string) {
    this.#text = text;
  }

  root(): YAMLMap | undefined {
    this.#toContent(this.#text.startsWith('---\n') ? 4 : 0);
    const map = this.#column === 0 ? this.#blockMap(1) : undefined;
    return this.#column === -1 ? map : undefined;
  }

  /** Moves from the start of a line to the next content; skips empty lines and comments. */
  #toContent(lineStart: number): void {
    const text = this.#text;
    for (let start = lineStart; ;) {
      let at = start;
      while (text.charCodeAt(at) === SPACE) at += 1;
      const code = text.charCodeAt(at);
      if (code === NEWLINE) start = at + 1;
      else if (code === HASH) start = lineEnd(text, at) + 1;
      else {
        this.#at = at;
        this.#column = at < text.length ? at - start : -1;
        return;
      }
    }
  }

  #blockMap(depth: number): YAMLMap | undefined {
    if (depth > MAX_DEPTH) return undefined;
    const map = new YAMLMap();
    const column = this.#column;
    const start = this.#at;
    const keys = new Set<string>();
    while (this.#column === column) {
      const key = this.#key(keys);
      if (key === undefined) return undefined;
      const value = this.#blockValue(column, depth);
      if (value === undefined) return undefined;
      map.items.push(new Pair(key, value));
    }
    return this.#column > column ? undefined : ranged(map, start, this.#at);
  }

  /** Reads a key that is not in `keys`, adds it there, and moves behind the colon. */
  #key(keys: Set<string>): Scalar | undefined {
    const start = this.#at;
    const key = this.#match(KEY);
    if (key === undefined || keys.has(key)) return undefined;
    keys.add(key);
    const scalar = scalarOf(key, key, start, this.#at);
    this.#at += 1;
    return scalar;
  }

  /** The value of a key of a block mapping at `column`: in its line, or below it. */
  #blockValue(column: number, depth: number): SimpleNode | undefined {
    if (this.#endLine()) {
      const isList = this.#isDash();
      if (this.#column < column || (this.#column === column && !isList)) return undefined;
      return isList ? this.#blockList(depth + 1) : this.#blockMap(depth + 1);
    }
    this.#match(SPACES);
    return this.#lineValue(depth);
  }

  #blockList(depth: number): YAMLSeq | undefined {
    if (depth > MAX_DEPTH) return undefined;
    const list = new YAMLSeq();
    const column = this.#column;
    const start = this.#at;
    while (this.#column === column && this.#isDash()) {
      const dash = this.#at;
      this.#at += 1;
      this.#match(SPACES);
      this.#column = column + this.#at - dash;
      KEY.lastIndex = this.#at;
      const item = KEY.test(this.#text) ? this.#blockMap(depth + 1) : this.#lineValue(depth);
      // What looks like a number or a boolean may be a name, and is left to the complete parser.
      if (item === undefined || (item instanceof Scalar && typeof item.value !== 'string')) return undefined;
      list.items.push(item);
    }
    return this.#column > column ? undefined : ranged(list, start, this.#at);
  }

  #isDash(): boolean {
    return this.#text.charCodeAt(this.#at) === DASH && this.#text.charCodeAt(this.#at + 1) === SPACE;
  }

  /** A value that ends in its line, with the rest of the line. */
  #lineValue(depth: number): SimpleNode | undefined {
    const value = this.#isPlain() ? this.#plain() : this.#collectionOrQuoted(depth);
    return value !== undefined && this.#endLine() ? value : undefined;
  }

  /** Moves from the end of a value to the next content; false if anything but a comment follows in the line. */
  #endLine(): boolean {
    if (this.#match(LINE_REST) === undefined) return false;
    this.#toContent(this.#at);
    return true;
  }

  #isPlain(): boolean {
    TEXT_START.lastIndex = this.#at;
    return TEXT_START.test(this.#text);
  }

  #plain(): Scalar | undefined {
    const start = this.#at;
    const line = this.#text.slice(start, lineEnd(this.#text, start));
    const comment = line.indexOf(' #');
    const text = withoutSpaces(comment === -1 ? line : line.slice(0, comment));
    if (text.includes(': ') || text.endsWith(':')) return undefined;
    this.#at = start + text.length;
    return plainScalar(text, start);
  }

  #collectionOrQuoted(depth: number): SimpleNode | undefined {
    switch (this.#text.charCodeAt(this.#at)) {
      case OPENING_BRACKET:
        return this.#flowList(depth + 1);
      case OPENING_BRACE:
        return this.#flowMap(depth + 1);
      case DOUBLE_QUOTE:
        return this.#doubleQuoted();
      case QUOTE:
        return this.#singleQuoted();
      default:
        return undefined;
    }
  }

  #flowList(depth: number): YAMLSeq | undefined {
    const list = new YAMLSeq();
    list.flow = true;
    return this.#flowItems(list, ']', () => {
      const item = this.#flowValue(depth);
      if (item !== undefined) list.items.push(item);
      return item instanceof Scalar ? typeof item.value === 'string' : item !== undefined;
    });
  }

  #flowMap(depth: number): YAMLMap | undefined {
    const map = new YAMLMap();
    map.flow = true;
    const keys = new Set<string>();
    return this.#flowItems(map, '}', () => {
      const key = this.#key(keys);
      this.#match(SPACES);
      const value = key === undefined ? undefined : this.#flowValue(depth);
      if (value !== undefined) map.items.push(new Pair(key, value));
      return value !== undefined;
    });
  }

  /** Reads the items of a flow collection with `readItem`, which returns false for one that is not in the subset. */
  #flowItems<T extends YAMLMap | YAMLSeq>(
    collection: T,
    closing: string,
    readItem: () => boolean,
  ): T | undefined {
    const start = this.#at;
    do {
      this.#at += 1;
      this.#match(SPACES);
      const isEmpty = collection.items.length === 0 && this.#text[this.#at] === closing;
      if (!isEmpty && !readItem()) return undefined;
      this.#match(SPACES);
    } while (this.#text[this.#at] === ',');
    if (this.#text[this.#at] !== closing) return undefined;
    this.#at += 1;
    return ranged(collection, start, this.#at);
  }

  #flowValue(depth: number): SimpleNode | undefined {
    if (depth > MAX_DEPTH) return undefined;
    const start = this.#at;
    const found = this.#match(FLOW_TEXT);
    if (found === undefined) return this.#collectionOrQuoted(depth);
    const text = withoutSpaces(found);
    this.#at = start + text.length;
    return plainScalar(text, start);
  }

  #doubleQuoted(): Scalar | undefined {
    const start = this.#at;
    const end = this.#text.indexOf('"', start + 1);
    if (end === -1) return undefined;
    const value = this.#text.slice(start + 1, end);
    if (/[\n\\]/u.test(value)) return undefined;
    this.#at = end + 1;
    return scalarOf(value, value, start, this.#at);
  }

  #singleQuoted(): Scalar | undefined {
    const start = this.#at;
    let end = this.#text.indexOf("'", start + 1);
    while (end !== -1 && this.#text[end + 1] === "'") end = this.#text.indexOf("'", end + 2);
    if (end === -1) return undefined;
    const value = this.#text.slice(start + 1, end).replaceAll("''", "'");
    if (value.includes('\n')) return undefined;
    this.#at = end + 1;
    return scalarOf(value, value, start, this.#at);
  }

  /** Matches a sticky expression and moves behind the match. */
  #match(expression: RegExp): string | undefined {
    expression.lastIndex = this.#at;
    const found = expression.exec(this.#text)?.[0];
    if (found !== undefined) this.#at += found.length;
    return found;
  }
}

/** The value of plain text; undefined if YAML may read it differently. */
function plainScalar(text: string, start: number): Scalar | undefined {
  const end = start + text.length;
  if (!NOT_TEXT.test(text)) return scalarOf(text, text, start, end);
  if (WHOLE_NUMBER.test(text)) return scalarOf(Number(text), text, start, end);
  return text === 'true' || text === 'false' ? scalarOf(text === 'true', text, start, end) : undefined;
}

function scalarOf(value: unknown, source: string, start: number, end: number): Scalar {
  const scalar = ranged(new Scalar(value), start, end);
  scalar.source = source;
  return scalar;
}

function ranged<T extends SimpleNode>(node: T, start: number, end: number): T {
  node.range = [start, end, end];
  return node;
}

/** The offset of the line feed that ends the line, or the end of the text. */
function lineEnd(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end === -1 ? text.length : end;
}

/** Unlike `trimEnd`, removes spaces only: other white space is part of a YAML text. */
function withoutSpaces(text: string): string {
  let end = text.length;
  while (text.charCodeAt(end - 1) === SPACE) end -= 1;
  return text.slice(0, end);
}
