// The digest that identifies a text: of a plan, of a list, of a token. And the ids of runs.
import { createHash, randomBytes } from 'node:crypto';

/** SHA-256 of a text. Hexadecimal digests are in lower case. */
export function sha256(text: string, encoding: 'hex' | 'base64' | 'base64url' = 'hex'): string {
  return createHash('sha256').update(text).digest(encoding);
}

/** A UUIDv7 (RFC 9562). The order of ids is the order of their times. */
export function uuidv7(nowMs: number): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(nowMs, 0, 6);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x70, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
