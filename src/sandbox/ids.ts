// Makes ids of 24 hexadecimal digits.

import { createHash, randomBytes } from 'node:crypto';

const processPart = randomBytes(5).toString('hex');
let counter = randomBytes(3).readUIntBE(0, 3);

/** A new id, unique across processes: the seconds, a random part of the process, a counter. */
export function newId(nowMs: number): string {
  counter = (counter + 1) % 0x1000000;
  const seconds = Math.floor(nowMs / 1000) % 0x100000000;
  return seconds.toString(16).padStart(8, '0') + processPart + counter.toString(16).padStart(6, '0');
}

/** The id of a seeded object: the same parts give the same id in every process. */
export function seededId(...parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 24);
}
