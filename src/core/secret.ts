// A wrapper that keeps a secret out of logs, errors, reports and JSON.

const REDACTED = '[redacted]';

/** This many consecutive characters of a secret, in any of its encodings, are redacted like the complete secret. */
const REVEALING = 12;

/** Shorter secrets would match harmless texts. */
const SHORTEST_SQUEEZED = 8;

/** The text with ASCII letters in lower case and all positions kept: a hex key is the same in either case. */
function asciiLower(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

const CODES =
  /%([0-9a-f]{2})|\\x([0-9a-f]{2})|\\u([0-9a-f]{4})|\\u\{([0-9a-f]{1,6})\}|&#x([0-9a-f]{1,6});?|&#([0-9]{1,7});?|&[a-z]{2,8};/gi;

/**
 * Only the letters and digits of a text, in lower case, with compatibility forms, percent codes, backslash escapes and HTML
 * character codes decoded, also where they are encoded several times.
 */
function squeezed(text: string): string {
  const once = text
    // Each character alone: long sequences of combining characters take quadratic time.
    .replace(/[^\0-\x7f]/gu, (character) => character.normalize('NFKC'))
    .replace(/\\+/g, '\\')
    .replace(/%(?:25)+(?=[0-9a-f]{2})/gi, '%');
  const plain = once.replace(CODES, (_, ...codes: (string | undefined)[]) => {
    const decimal = codes[5];
    const written = decimal ?? codes.slice(0, 5).find((code) => code !== undefined);
    // A named entity is a character that is neither a letter nor a digit.
    if (written === undefined) return ' ';
    const code = Number.parseInt(written, decimal === undefined ? 16 : 10);
    return code <= 0x7f ? String.fromCharCode(code) : ' ';
  });
  return asciiLower(plain).replace(/[^a-z0-9]+/g, '');
}

/** Texts around a token that are often pasted with it. */
const SURROUNDINGS: readonly (readonly [RegExp, string])[] = [
  [/^(?:export )?\w+=[^=]/, 'the token begins with “NAME=”; write only what follows it'],
  [/^Bearer /i, 'the token begins with “Bearer ”; remove that word, which rolecall sends itself'],
  [/^["'`]|["'`]$/, 'the token has quotes around it; remove them'],
];

/** A value that prints as `[redacted]`. Only `reveal()` returns it, for the request that sends it. */
export class Secret {
  readonly #value: string;
  /** Every run of REVEALING characters of every encoding; computed on first use. */
  #runs: ReadonlySet<string> | undefined;
  #squeezed: string | undefined;
  /** Every encoding, in lower case. */
  #copies: readonly string[] | undefined;

  constructor(value: string) {
    this.#value = value;
  }

  /** The value itself. Never pass the result to anything but the request that needs it. */
  reveal(): string {
    return this.#value;
  }

  /** Whether a text contains the complete, unencoded secret. */
  isIn(text: string): boolean {
    return this.#value !== '' && text.includes(this.#value);
  }

  /** What surrounds the token in the value, if something seems to: what to do about it. Contains no part of the value. */
  get problem(): string | undefined {
    return SURROUNDINGS.find(([pattern]) => pattern.test(this.#value))?.[1];
  }

  /**
   * Redacts the secret in a text that a server may have echoed it into: unencoded, encoded, and in parts that are long
   * enough to reveal it.
   */
  scrub(text: string): string {
    if (this.#value === '') return text;
    // Checked before parts are redacted, since the other parts would remain.
    if (this.#isSpreadIn(this.#withoutCopies(text))) return REDACTED;
    return this.#withoutRuns(text.replaceAll(this.#value, REDACTED));
  }

  toString(): string {
    return REDACTED;
  }

  toJSON(): string {
    return REDACTED;
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return REDACTED;
  }

  /** Whether the text contains the secret in an encoding that `spellings` does not list, or with separators. */
  #isSpreadIn(text: string): boolean {
    this.#squeezed ??= squeezed(this.#value);
    return this.#squeezed.length >= SHORTEST_SQUEEZED && squeezed(text).includes(this.#squeezed);
  }

  /** The text without complete copies of the secret in its usual encodings. */
  #withoutCopies(text: string): string {
    this.#copies ??= [...new Set(spellings(this.#value).map(asciiLower))].filter(
      ({ length }) => length >= SHORTEST_SQUEEZED,
    );
    return this.#copies.reduce((rest, copy) => rest.replaceAll(copy, REDACTED), asciiLower(text));
  }

  #withoutRuns(text: string): string {
    const folded = asciiLower(text);
    this.#runs ??= runsOf(spellings(this.#value));
    let clean = '';
    let end = 0;
    for (let at = 0; at + REVEALING <= text.length; at += 1) {
      if (!this.#runs.has(folded.slice(at, at + REVEALING))) continue;
      // Runs that overlap or touch are one.
      if (at > end || end === 0) clean += text.slice(end, at) + REDACTED;
      end = at + REVEALING;
    }
    return clean + text.slice(end);
  }
}

function runsOf(texts: readonly string[]): ReadonlySet<string> {
  const runs = new Set<string>();
  for (const text of texts.map(asciiLower))
    for (let at = 0; at + REVEALING <= text.length; at += 1) runs.add(text.slice(at, at + REVEALING));
  return runs;
}

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
