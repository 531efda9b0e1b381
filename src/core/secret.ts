// The wrapper that keeps a secret out of every log, error, report and JSON.
import { spellings } from './secret-spellings.ts';

const REDACTED = '[redacted]';

/** So many characters of a secret in a row, in any of its spellings, are taken out of a text like the whole. */
const TELLING = 12;

/** A shorter rest of a secret would be found in innocent texts. */
const SHORTEST_SQUEEZED = 8;

/** The text with the letters of ASCII in lower case, at the same places: a hex key is one in either case. */
function asciiLower(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** Only the letters and digits of a text, in lower case, with percent codes and HTML's codes of characters resolved. */
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

/** A value that prints as `[redacted]` on every path; only `reveal()` gives it, at the one place that sends it. */
export class Secret {
  readonly #value: string;
  /** Every run of TELLING characters of every spelling; made when it is first needed. */
  #runs: ReadonlySet<string> | undefined;
  #squeezed: string | undefined;

  constructor(value: string) {
    this.#value = value;
  }

  /** The value itself. Never pass the result to anything but the request that needs it. */
  reveal(): string {
    return this.#value;
  }

  /** Whether the secret, whole and as it is, stands in a text. */
  isIn(text: string): boolean {
    return this.#value !== '' && text.includes(this.#value);
  }

  /**
   * `text` with every occurrence of the secret replaced, for text that a server may have echoed it into: as it is,
   * encoded, and in parts that are long enough to tell it by.
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

  /** Whether the secret is in the text when marks between its characters and codes of characters are resolved. */
  #isSpreadIn(text: string): boolean {
    this.#squeezed ??= squeezed(this.#value);
    return this.#squeezed.length >= SHORTEST_SQUEEZED && squeezed(text).includes(this.#squeezed);
  }

  #withoutRuns(text: string): string {
    const folded = asciiLower(text);
    this.#runs ??= runsOf(spellings(this.#value));
    let clean = '';
    let end = 0;
    for (let at = 0; at + TELLING <= text.length; at += 1) {
      if (!this.#runs.has(folded.slice(at, at + TELLING))) continue;
      // Runs that overlap or touch are one.
      if (at > end || end === 0) clean += text.slice(end, at) + REDACTED;
      end = at + TELLING;
    }
    return clean + text.slice(end);
  }
}

function runsOf(texts: readonly string[]): ReadonlySet<string> {
  const runs = new Set<string>();
  for (const text of texts.map(asciiLower))
    for (let at = 0; at + TELLING <= text.length; at += 1) runs.add(text.slice(at, at + TELLING));
  return runs;
}
