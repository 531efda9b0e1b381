// A wrapper that keeps a secret out of logs, errors, reports and JSON.
import { spellings } from './secret-spellings.ts';

const REDACTED = '[redacted]';

/** This many consecutive characters of a secret, in any of its encodings, are redacted like the complete secret. */
const REVEALING = 12;

/** Shorter secrets would match harmless texts. */
const SHORTEST_SQUEEZED = 8;

/** The text with ASCII letters in lower case and all positions kept: a hex key is the same in either case. */
function asciiLower(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** Only the letters and digits of a text, in lower case, with percent codes and HTML character codes decoded. */
function squeezed(text: string): string {
  const plain = text.replace(
    /%([0-9a-f]{2})|&#x([0-9a-f]{1,6});?|&#([0-9]{1,7});?/gi,
    (_, percent?: string, hex?: string, decimal?: string) => {
      const code = Number.parseInt(percent ?? hex ?? decimal ?? '', decimal === undefined ? 16 : 10);
      return code <= 0x7f ? String.fromCharCode(code) : ' ';
    },
  );
  return asciiLower(plain).replace(/[^a-z0-9]+/g, '');
}

/** A value that prints as `[redacted]`. Only `reveal()` returns it, for the request that sends it. */
export class Secret {
  readonly #value: string;
  /** Every run of REVEALING characters of every encoding; computed on first use. */
  #runs: ReadonlySet<string> | undefined;
  #squeezed: string | undefined;

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

  /**
   * Redacts the secret in a text that a server may have echoed it into: unencoded, encoded, and in parts that are long
   * enough to reveal it.
   */
  scrub(text: string): string {
    if (this.#value === '') return text;
    const clean = this.#withoutRuns(text.replaceAll(this.#value, REDACTED));
    return this.#isSpreadIn(clean) ? REDACTED : clean;
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

  /** Whether the text contains the secret after separators are removed and character codes are decoded. */
  #isSpreadIn(text: string): boolean {
    this.#squeezed ??= squeezed(this.#value);
    return this.#squeezed.length >= SHORTEST_SQUEEZED && squeezed(text).includes(this.#squeezed);
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
