// The digest that identifies a text: of a plan, of a list, of a token.
import { createHash } from 'node:crypto';

/** SHA-256 of a text. Hexadecimal digests are in lower case. */
export function sha256(text: string, encoding: 'hex' | 'base64' | 'base64url' = 'hex'): string {
  return createHash('sha256').update(text).digest(encoding);
}
