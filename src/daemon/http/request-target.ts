// Checks the target of a request: every program on its way must read it in the same way.

/** Much longer than any target of this server. */
const MAX_LENGTH = 8192;

/**
 * Whether the raw target is a path of this server in ASCII, with percent encodings of valid UTF-8. No segment may be one
 * that some programs read as a parent folder, a separator or an end, and others don't.
 */
export function isValidTarget(target: string): boolean {
  if (target.length > MAX_LENGTH || !/^\/[\x21-\x7e]*$/.test(target) || /[#\\]/.test(target)) return false;
  const queryAt = target.indexOf('?');
  const path = queryAt === -1 ? target : target.slice(0, queryAt);
  const query = queryAt === -1 ? '' : target.slice(queryAt + 1);
  return decoded(query) !== null && path.split('/').every(isValidSegment);
}

function isValidSegment(segment: string): boolean {
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
