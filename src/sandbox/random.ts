// Random numbers that a seed determines, so that a run can be repeated exactly, and ids of 24 hexadecimal digits.

import { createHash, randomBytes } from 'node:crypto';

/** A generator of numbers from 0 (included) to 1 (excluded): mulberry32. */
export type Random = () => number;

export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** A copy in random order. */
export function shuffled<T>(items: readonly T[], random: Random): T[] {
  const placed = items.map((item) => ({ item, place: random() }));
  return placed.sort((a, b) => a.place - b.place).map(({ item }) => item);
}

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
