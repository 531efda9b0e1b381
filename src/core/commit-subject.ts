// Limits the length of commit subjects, which anybody who commits could make arbitrarily long.

const LONGEST = 200;

/** Cuts a subject to 200 characters (code points); an ellipsis marks the cut. */
export function cutSubject(subject: string): string {
  // A code point has at most two units, so only this part of a long text must be split.
  const characters = Array.from(subject.slice(0, 2 * (LONGEST + 1)));
  return characters.length <= LONGEST ? subject : `${characters.slice(0, LONGEST - 1).join('')}…`;
}
