// The files below config/ that operators copy, read for the tests of this folder.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseDocument } from 'yaml';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** `path` is relative to the top of the repository. */
export function pathOf(path: string): string {
  return `${ROOT}${path}`;
}

export function textOf(path: string): string {
  return readFileSync(pathOf(path), 'utf8');
}

/** The file's value; a file that is not valid YAML, or causes a warning, fails the test that reads it. */
export function yamlOf(path: string): Node {
  const document = parseDocument(textOf(path), { uniqueKeys: true });
  const problems = [...document.errors, ...document.warnings].map(({ message }) => `${path}: ${message}`);
  if (problems.length > 0) throw new Error(problems.join('\n'));
  return new Node(document.toJS());
}

export function jsonOf(path: string): Node {
  return new Node(JSON.parse(textOf(path)));
}

/** A place in a parsed file. A missing place is a node whose value is undefined. */
export class Node {
  readonly value: unknown;

  constructor(value: unknown) {
    this.value = value;
  }

  at(...path: readonly (string | number)[]): Node {
    let value = this.value;
    for (const key of path) {
      value =
        typeof value === 'object' && value !== null && Object.hasOwn(value, key)
          ? (value as Readonly<Record<string | number, unknown>>)[key]
          : undefined;
    }
    return new Node(value);
  }

  /** The items of a list; none for any other value. */
  items(): Node[] {
    return Array.isArray(this.value) ? this.value.map((item) => new Node(item)) : [];
  }

  keys(): string[] {
    return typeof this.value === 'object' && this.value !== null ? Object.keys(this.value) : [];
  }

  entries(): [string, Node][] {
    return this.keys().map((key) => [key, this.at(key)]);
  }

  text(): string {
    if (typeof this.value !== 'string') throw new TypeError(`not a text: ${JSON.stringify(this.value)}`);
    return this.value;
  }

  /** Every text under `key`, at any depth. */
  deepTexts(key: string): string[] {
    return this.entries().flatMap(([name, node]) =>
      name === key && typeof node.value === 'string' ? [node.value] : node.deepTexts(key),
    );
  }
}
