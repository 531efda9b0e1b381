// The encodings in which programs, protocols and formats may pass on a secret, so that each can be redacted.

const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** The text unchanged, in JSON (also within JSON), percent-encoded, in HTML, in hex and in base64. */
export function spellings(text: string): readonly string[] {
  const json = inJson(text);
  const html = text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
  return [text, json, inJson(json), html, ...percentEncoded(text), ...encodedBytes(text)];
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function percentEncoded(text: string): readonly string[] {
  if (/\p{Cs}/u.test(text)) return [];
  const code = encodeURIComponent(text);
  // Form encoding also encodes characters that encodeURIComponent leaves unchanged.
  const strict = code.replace(
    /[!'()*~]/g,
    (character) => `%${hexByte(character.charCodeAt(0)).toUpperCase()}`,
  );
  return [code, strict].flatMap((each) => [each, each.replace(/%../g, (byte) => byte.toLowerCase())]);
}

/** Hex and base64 of ASCII texts: a header cannot carry other texts, so no other secret is sent. */
function encodedBytes(text: string): readonly string[] {
  const bytes = Array.from(text, (character) => character.codePointAt(0) ?? 0);
  if (bytes.some((byte) => byte > 0x7f)) return [];
  const hex = bytes.map(hexByte).join('');
  // A secret can start 0, 1 or 2 bytes into a group of three; its first own base64 character starts at these bits.
  const base64 = [0, 4, 2].map((firstBit) => base64From(bytes, firstBit));
  const base64url = base64.map((code) => code.replaceAll('+', '-').replaceAll('/', '_'));
  return [hex, hex.toUpperCase(), ...base64, ...base64url];
}

function hexByte(byte: number): string {
  return byte.toString(16).padStart(2, '0');
}

/** The base64 characters that these bytes alone determine, starting at one of their bits. */
function base64From(bytes: readonly number[], firstBit: number): string {
  const bits = bytes.map((byte) => byte.toString(2).padStart(8, '0')).join('');
  let code = '';
  for (let at = firstBit; at + 6 <= bits.length; at += 6) {
    code += BASE64.charAt(Number.parseInt(bits.slice(at, at + 6), 2));
  }
  return code;
}
