// The first gate: only request targets that every reader understands alike get any further.

/** The longest that is looked at; nothing of ours comes near it. */
const LONGEST = 8192;

/**
 * Whether the raw target of a request is a path of this server, spelt plainly: ASCII, percent encodings that are
 * valid UTF-8, and no segment that one reader would take for a step upwards, a separator or an end, and another not.
 */
export function isSoundTarget(target: string): boolean {
  if (target.length > LONGEST || !/^\/[\x21-\x7e]*$/.test(target) || /[#\\]/.test(target)) return false;
  const queryAt = target.indexOf('?');
  const path = queryAt === -1 ? target : target.slice(0, queryAt);
  const query = queryAt === -1 ? '' : target.slice(queryAt + 1);
  return decoded(query) !== null && path.split('/').every(isSoundSegment);
}

function isSoundSegment(segment: string): boolean {
  const text = decoded(segment);
  return text !== null && text !== '.' && text !== '..' && !/[\p{Cc}/\\]/u.test(text);
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
