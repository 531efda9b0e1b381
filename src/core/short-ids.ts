// Shortens ids to beginnings that still name only one run.

/** The part of a UUIDv7 that is its time, in milliseconds. Runs that start later never begin with the same characters. */
const TIME_CHARACTERS = 13;

/** The length from which on the beginning of `id` differs from that of the others, which are other ids. */
export function distinctLength(id: string, others: readonly (string | null)[]): number {
  const shared = others.map((other) => (other === null ? 0 : sharedLength(id, other)));
  return Math.min(id.length, Math.max(TIME_CHARACTERS, ...shared.map((length) => length + 1)));
}

function sharedLength(a: string, b: string): number {
  const difference = Array.from(a).findIndex((character, index) => character !== b[index]);
  return difference === -1 ? a.length : difference;
}
