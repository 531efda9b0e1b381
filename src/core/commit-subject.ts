// The subject of a commit as it is stored and shown: whoever commits decides how long it is, the journal does not.

const LONGEST = 200;

/** At most 200 characters (code points); the last of them shows that some are missing. */
export function cutSubject(subject: string): string {
  // No more than two units make a code point, so that a long text is not taken apart whole.
  const characters = Array.from(subject.slice(0, 2 * (LONGEST + 1)));
  return characters.length <= LONGEST ? subject : `${characters.slice(0, LONGEST - 1).join('')}…`;
}
