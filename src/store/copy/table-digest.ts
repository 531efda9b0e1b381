// A digest of the rows of a table that does not depend on their order, because the two engines order text differently.
import { createHash } from 'node:crypto';
import type { Row, Value } from './copied-tables.ts';

export interface TableDigest {
  add(row: Row): void;
  readonly rows: number;
  /** Equal for tables with the same rows, each as often. */
  value(): string;
}

const MODULUS = 1n << 256n;

export function createTableDigest(): TableDigest {
  let rows = 0;
  let sum = 0n;
  return {
    add(row) {
      rows += 1;
      const hash = createHash('sha256');
      for (const value of row) hash.update(encoded(value));
      sum = (sum + BigInt(`0x${hash.digest('hex')}`)) % MODULUS;
    },
    get rows() {
      return rows;
    },
    value: () => sum.toString(16).padStart(64, '0'),
  };
}

/** Different values have different bytes: the type and the length come first. */
function encoded(value: Value): Uint8Array {
  if (value === null) return Buffer.from('n');
  if (typeof value === 'number') return Buffer.from(`i${value};`);
  // UTF-8 has no bytes for half a surrogate pair.
  const bytes = typeof value === 'string' ? Buffer.from(value, 'utf16le') : value;
  const head = `${typeof value === 'string' ? 't' : 'b'}${bytes.length};`;
  return Buffer.concat([Buffer.from(head), bytes]);
}
