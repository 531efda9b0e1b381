// Reads text of SQLite as it is stored. Its driver replaces the halves of surrogate pairs, which stores of earlier
// versions contain.

/** The three bytes of half a surrogate pair, each as one character; UTF-8 has no other text with these bytes. */
const HALF = /\u00ed[\u00a0-\u00bf][\u0080-\u00bf]/;

/** The text of bytes that the driver wrote. */
export function decodeText(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const text = buffer.toString('utf8');
  if (!text.includes('\uFFFD')) return text;
  return buffer
    .toString('latin1')
    .split(new RegExp(`(${HALF.source})`))
    .map((piece) => (HALF.test(piece) ? halfOf(piece) : Buffer.from(piece, 'latin1').toString('utf8')))
    .join('');
}

function halfOf(bytes: string): string {
  return String.fromCharCode(0xd000 | ((bytes.charCodeAt(1) & 0x3f) << 6) | (bytes.charCodeAt(2) & 0x3f));
}
